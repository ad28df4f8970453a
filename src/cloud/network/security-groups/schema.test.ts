import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import fastJsonStringify from 'fast-json-stringify';
import { describe, expect, test } from 'vitest';
import { createSecurityGroupSchema, MAX_RULES, securityGroupSchema } from './schema.ts';

const ajv = new Ajv({ allErrors: true, strict: false });
formats.default(ajv);
const accepts = ajv.compile(createSecurityGroupSchema);

const GROUP = '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a';

function withRule(rule: Record<string, unknown>) {
  return { security_group: { name: 'web', security_group_rules: [{ direction: 'ingress', ...rule }] } };
}

function withGroup(fields: Record<string, unknown>) {
  return { security_group: { name: 'web', ...fields } };
}

// TypeBox's types don't contain annotations.
const annotations = (schema: object) => schema as { examples: unknown[]; title: string };

describe('creation body', () => {
  test.each([
    { security_group: { name: 'web' } },
    withGroup({ description: '', tags: { env: 'test' }, security_group_rules: [] }),
    { security_group: { name: 'web' }, instances: [GROUP] },
    withRule({}),
    withRule({ protocol: null, port_range_min: null, port_range_max: null, remote_ip_prefix: null }),
    withRule({ protocol: 'any', ethertype: 'IPv6', description: 'd'.repeat(255) }),
    withRule({ protocol: 'ipencap', port_range_min: 0, port_range_max: 65535, remote_group_id: GROUP }),
    withGroup({ security_group_rules: Array(MAX_RULES).fill({ direction: 'egress' }) }),
    ...annotations(createSecurityGroupSchema).examples,
  ])('takes %j', (body) => {
    expect(accepts(body), JSON.stringify(accepts.errors)).toBe(true);
  });

  test.each<[body: unknown, path: string]>([
    [{}, ''],
    [{ security_group: {} }, '/security_group'],
    [{ security_group: { name: 'web' }, extra: 1 }, ''],
    [withGroup({ extra: 1 }), '/security_group'],
    [withGroup({ name: 'ab' }), '/security_group/name'],
    [withGroup({ description: null }), '/security_group/description'],
    [withGroup({ tags: { a: 1 } }), '/security_group/tags/a'],
    [withGroup({ tags: { 'a\nb': 1 } }), '/security_group/tags/a\nb'],
    [{ security_group: { name: 'web' }, instances: ['x'] }, '/instances/0'],
    [{ security_group: { name: 'web' }, instances: [`urn:uuid:${GROUP}`] }, '/instances/0'],
    [
      withGroup({ security_group_rules: Array(MAX_RULES + 1).fill({ direction: 'egress' }) }),
      '/security_group/security_group_rules',
    ],
    ...(
      [
        ['direction', 'in'],
        ['ethertype', 'ipv4'],
        ['protocol', 'TCP'],
        ['protocol', '6'],
        ['protocol', 6],
        ['port_range_min', -1],
        ['port_range_max', 65536],
        ['port_range_min', '22'],
        ['port_range_min', 1.5],
        ['remote_ip_prefix', 10],
        ['remote_group_id', 'x'],
        ['remote_group_id', [GROUP]],
        ['description', 'd'.repeat(256)],
      ] as const
    ).map(([field, value]): [unknown, string] => [
      withRule({ [field]: value }),
      `/security_group/security_group_rules/0/${field}`,
    ]),
  ])('refuses %j', (body, path) => {
    expect(accepts(body)).toBe(false);
    expect(accepts.errors?.map(({ instancePath }) => instancePath)).toContain(path);
  });

  test('a nullable field of the wrong kind is one fault, not one for each branch', () => {
    accepts(withRule({ port_range_min: '22' }));
    expect(accepts.errors).toHaveLength(1);
  });
});

describe('answers', () => {
  const rule = {
    id: GROUP,
    security_group_id: GROUP,
    direction: 'ingress',
    ethertype: 'IPv4',
    protocol: null,
    port_range_min: null,
    port_range_max: 22,
    remote_ip_prefix: null,
    description: 'say "hi"',
    revision_number: 0,
    created_at: '2019-06-18T11:56:16+0000',
    updated_at: '2019-06-18T11:56:16+0000',
  };
  const group = {
    id: GROUP,
    name: 'web',
    description: '',
    project_id: 1,
    region: 'Region 1',
    region_id: 1,
    revision_number: 1,
    tags_v2: [{ key: 'env', value: 'test', read_only: false }],
    metadata: [{ key: 'env', value: 'test', read_only: false }],
    created_at: '2019-06-18T11:56:16+0000',
    updated_at: '2019-06-18T11:56:16+0000',
  };

  test.each([
    ['specification', []],
    ['specification', [GROUP]],
    ['client', null],
    ['client', GROUP],
  ] as const)('%s keeps every field and sends %j as the remote group', (dialect, remote) => {
    const answer = { ...group, security_group_rules: [{ ...rule, remote_group_id: remote }] };
    const stringify = fastJsonStringify(securityGroupSchema(dialect));
    expect(JSON.parse(stringify(answer))).toEqual(answer);
  });

  test('a dialect has one schema object, and its own titles', () => {
    expect(securityGroupSchema('client')).toBe(securityGroupSchema('client'));
    expect(annotations(securityGroupSchema('client')).title).toBe('ClientSecurityGroup');
    expect(annotations(securityGroupSchema('specification')).title).toBe('SecurityGroup');
  });
});
