import { expect, it } from 'vitest';
import { resolved, type Schema } from '../../../../test/acceptance/hostile/schemas.ts';
import { type DocumentedOperation, documentedOperations } from '../../../../test/support/openapi.ts';
import type { Kind } from '../../../backends/contract/backend.ts';
import { changedFields, PUBLISHED } from './published-fields.ts';

const READ_BY: Record<Kind, string> = {
  network: 'getNetwork',
  subnet: 'getSubnet',
  router: 'getRouter',
  port: 'getPort',
  security_group: 'getSecurityGroup',
  floating_ip: 'getFloatingIp',
  load_balancer: 'getLoadBalancer',
  ddos_profile: 'listDdosProfiles',
  volume: 'getVolume',
  snapshot: 'getSnapshot',
  image: 'getImage',
  file_share: 'getFileShare',
  secret: 'getSecret',
  server_group: 'getPlacementGroup',
  machine: 'getInstance',
  cluster: 'getKubernetesCluster',
};
/** Read at addresses of their own. */
const LISTED_ELSEWHERE = ['load_balancer pools', 'file_share access'];
const operations = await documentedOperations();

it.each(Object.entries(READ_BY) as [Kind, string][])('a %s has fields that %s shows', (kind, operationId) => {
  const of = operations.find(({ operation }) => operation.operationId === operationId);
  const shown = of ? namesIn(of) : [];
  expect(shown.length).toBeGreaterThan(3);
  const published = Object.values<readonly string[]>(PUBLISHED[kind]).flat();
  const unknown = published.filter((name) => !shown.includes(name));
  expect(unknown.filter((name) => !LISTED_ELSEWHERE.includes(`${kind} ${name}`))).toEqual([]);
});

it('leaves out what the API does not show, and names each field once', () => {
  const machine = { name: 'a', power: 'on', reboots: { soft: 0 } };
  expect(changedFields('machine', machine, { ...machine, reboots: { soft: 1 } })).toEqual([]);
  expect(changedFields('machine', machine, { ...machine, name: 'b', power: 'off' })).toEqual(['name', 'vm_state']);
  expect(changedFields('ddos_profile', { active: true, bgp: true }, { active: false, bgp: false })).toEqual([
    'options',
  ]);
});

it('names the groups of the settings of a cluster', () => {
  const before = { version: 'v1', configuration: { cni: { provider: 'cilium' }, logging: { topic: 'a' } } };
  const after = { version: 'v1', configuration: { cni: { provider: 'cilium' }, csi: {} } };
  expect(changedFields('cluster', before, after)).toEqual(['csi', 'logging']);
});

function namesIn(of: DocumentedOperation): string[] {
  const content: { schema?: Schema } | undefined = of.operation.responses['200']?.content?.['application/json'];
  const collect = (given: Schema): string[] => {
    const schema = resolved(of, given);
    const { items, properties = {} } = schema;
    const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
    if (items) parts.push(items);
    if (properties.results) parts.push(properties.results);
    return [...Object.keys(properties), ...parts.flatMap(collect)];
  };
  return content?.schema ? collect(content.schema) : [];
}
