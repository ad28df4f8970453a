import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { Call } from '../../src/backends/contract/backend.ts';
import type { SecurityRuleSpec } from '../../src/backends/contract/specs.ts';
import type { Api } from '../cloud/client.ts';
import { CloudError } from '../cloud/errors.ts';
import type { Site } from '../resource.ts';
import { securityGroups } from './security-groups.ts';

const RULE = {
  direction: 'ingress',
  ethertype: 'IPv4',
  protocol: 'tcp',
  port_range_min: 22,
  port_range_max: 22,
  remote_ip_prefix: null,
  remote_group_id: null,
};
const WANTED: SecurityRuleSpec = {
  direction: 'ingress',
  ethertype: 'IPv4',
  protocol: 'tcp',
  portRangeMin: 22,
  portRangeMax: 22,
};

/** Brings a group that has `there` nearer to `wanted`. Returns what Neutron was asked to do, and what came of it. */
async function change(there: object[], wanted: SecurityRuleSpec[], refuse: (body: unknown) => boolean = () => false) {
  const asked: [string, string, unknown][] = [];
  const send = async (_service: string, method: string, path: string, body: unknown) => {
    asked.push([method, path, body]);
    if (refuse(body))
      throw new CloudError('network', 409, { type: 'SecurityGroupRuleExists', message: 'exists' }, undefined);
    return {};
  };
  const call = { log: pino({ level: 'silent' }) } as unknown as Call;
  const site = { api: { send } as unknown as Api, call, ref: { projectId: 1 }, notes: {} } as Site<'security_group'>;
  const rules = there.map((rule, index) => ({ ...RULE, id: `r${index}`, ...rule }));
  const live = { id: 'g', name: 'web', description: null, security_group_rules: rules };
  const step = await securityGroups.change(site, live, {
    name: 'web',
    description: '',
    rules: Object.fromEntries(wanted.map((rule, index) => [String(index), rule])),
  });
  return { asked, step };
}

it.each([
  ['all addresses, and none named', {}, { ...WANTED, remoteIpPrefix: '0.0.0.0/0' }],
  ['a prefix with bits of hosts', { remote_ip_prefix: '10.0.0.7/24' }, { ...WANTED, remoteIpPrefix: '10.0.0.0/24' }],
  ['ICMP of IPv6', { ethertype: 'IPv6', protocol: 'ipv6-icmp' }, { ...WANTED, ethertype: 'IPv6', protocol: 'icmp' }],
  ['IP in IP, by Neutron’s name', { protocol: 'ipip' }, { ...WANTED, protocol: 'ipencap' }],
] as const)('knows that it says the same: %s', async (_name, there, wanted) => {
  expect(await change([there], [wanted])).toEqual({ asked: [], step: undefined });
});

it('adds before it removes, and calls a protocol by its number where Neutron has another for its name', async () => {
  const { asked, step } = await change([{ protocol: 'udp' }], [{ ...WANTED, protocol: 'ipip' }]);
  expect(asked).toEqual([
    ['POST', '/security-group-rules', { security_group_rules: [{ ...RULE, protocol: '94', security_group_id: 'g' }] }],
    ['DELETE', '/security-group-rules/r0', undefined],
  ]);
  expect(step).toEqual({ doing: 'changing rules' });
});

it('closes what is to be closed, also if somebody was faster to open one of several', async () => {
  const other = { ...WANTED, portRangeMin: 80, portRangeMax: 80 };
  const isList = (body: unknown) => JSON.stringify(body ?? '').includes('security_group_rules');
  const { asked } = await change([{ protocol: 'udp' }], [WANTED, other], isList);
  expect(asked.map(([method, path]) => `${method} ${path}`)).toEqual([
    'POST /security-group-rules',
    'POST /security-group-rules',
    'POST /security-group-rules',
    'DELETE /security-group-rules/r0',
  ]);
});
