import { beforeEach, expect, it } from 'vitest';
import type { LoadBalancerSpec, PoolSpec } from '../../src/backends/contract/specs.ts';
import { newSamples } from '../../test/backends/samples.ts';
import type { Api } from '../cloud/client.ts';
import type { Notes, Site } from '../resource.ts';
import { changeTree } from './tree.ts';

type Part = Record<string, unknown> & { id: string };

/** What a load balancer has in an Octavia of tests, by the path of its list, and the orders that it got. */
let there: Map<string, Part[]>;
let orders: string[];
let notes: Notes;
/** Kinds of parts that end in ERROR. */
let failing: Set<string>;
beforeEach(() => {
  [there, orders, notes, failing] = [new Map(), [], {}, new Set()];
});

const { id, spec } = newSamples().load_balancer;
const [[poolId, pool]] = Object.entries(spec.pools) as [[string, PoolSpec]];
const statusOf = (kind: string) => ({ provisioning_status: failing.has(kind) ? 'ERROR' : 'ACTIVE' });
const listOf = (path: string): Part[] => there.get(path) ?? there.set(path, []).get(path) ?? [];

const send: Api['send'] = async (_service, method, path, body) => {
  const [kind = '', fields] = Object.entries((body ?? {}) as Record<string, Record<string, unknown>>)[0] ?? [];
  orders.push(`${method} ${path.replaceAll(/[a-z0-9]+-\d+/g, '*')}`);
  const at = path.split('/').slice(0, -1).join('/');
  if (kind === 'members')
    there.set(
      path,
      (fields as unknown as object[]).map((one, n) => ({ id: `m-${n}`, ...one })),
    );
  else if (method === 'POST') {
    const { pool_id } = fields as { pool_id?: string };
    const parents = pool_id === undefined ? {} : { pools: [{ id: pool_id }] };
    listOf(path).push({ id: `${kind}-${listOf(path).length}`, ...fields, ...parents, ...statusOf(kind) });
  } else if (method === 'PUT')
    Object.assign(listOf(at).find((one) => path.endsWith(one.id)) ?? {}, fields, statusOf(kind));
  else
    there.set(
      at,
      listOf(at).filter((one) => !path.endsWith(one.id)),
    );
  return {} as never;
};

const list: Api['list'] = async (_service, path) =>
  listOf(path).map((one) => ({
    tags: [],
    members: listOf(`/pools/${one.id}/members`),
    rules: listOf(`/l7policies/${one.id}/rules`),
    ...one,
  })) as never;

/** One step, as the backend would take it. Returns whether there was one. */
async function step(wanted: LoadBalancerSpec): Promise<boolean> {
  const names = { of: async (_api: Api, _kind: string, of: string) => of, ifOurs: async () => 'subnet' };
  const remember = async (now: Notes) => {
    notes = now;
  };
  const ref = { kind: 'load_balancer', id };
  const site = { api: { send, list }, names, ref, notes, remember } as unknown as Site<'load_balancer'>;
  const done = await changeTree(site, { id: 'balancer' }, wanted);
  notes = { ...notes, ...done?.notes };
  return done !== undefined;
}

async function bring(wanted: LoadBalancerSpec): Promise<string[]> {
  orders = [];
  for (let count = 0; count < 50; count++) if (!(await step(wanted))) return orders;
  throw new Error(`It never ends: ${orders.join(', ')}`);
}

const rules = { r: { type: 'PATH', compare: 'EQUAL_TO', value: '/', invert: false } };
const withPolicies = (...names: string[]): LoadBalancerSpec => ({
  ...spec,
  listeners: Object.fromEntries(
    Object.entries(spec.listeners).map(([listenerId, listener]) => {
      const policies = names.map((name, position) => [name, { name, position, action: { kind: 'reject' }, rules }]);
      return [listenerId, { ...listener, policies: Object.fromEntries(policies) }];
    }),
  ),
});

it('pools are made before what leads to them, and nothing is told twice', async () => {
  expect(await bring(withPolicies('closed'))).toEqual([
    ...['POST /pools', 'PUT /pools/*/members', 'POST /healthmonitors', 'POST /listeners'],
    ...['POST /l7policies', 'POST /l7policies/*/rules'],
  ]);
  expect(await bring(withPolicies('closed'))).toEqual([]);
});

it('a pool of another protocol replaces the former one, which goes last', async () => {
  await bring(spec);
  const changed = { ...spec, pools: { [poolId]: { ...pool, protocol: 'PROXY' as const } } };
  expect(await bring(changed)).toEqual([
    ...['POST /pools', 'PUT /pools/*/members', 'POST /healthmonitors', 'PUT /listeners/*', 'DELETE /pools/*'],
  ]);
});

it('another type of monitor makes room first', async () => {
  await bring(spec);
  const monitor = { ...(pool.monitor as NonNullable<typeof pool.monitor>), type: 'PING' as const };
  const changed = { ...spec, pools: { [poolId]: { ...pool, monitor } } };
  expect(await bring(changed)).toEqual(['DELETE /healthmonitors/*', 'POST /healthmonitors']);
});

it('a new policy at the front is one order if Octavia moves the others', async () => {
  await bring(withPolicies('b'));
  for (const policy of listOf('/l7policies')) policy.position = 2;
  expect(await bring(withPolicies('a', 'b'))).toEqual(['POST /l7policies', 'POST /l7policies/*/rules']);
});

it('what is broken is tried three times, then refused, and tried again when somebody asks again', async () => {
  failing.add('listener');
  await expect(bring(spec)).rejects.toThrow('Octavia could not configure the listener: it is in the state ERROR');
  expect(orders.filter((order) => order.endsWith('/listeners/*'))).toHaveLength(3);
  failing.clear();
  expect(await bring(spec)).toEqual(['PUT /listeners/*']);
});

it('a broken pool is mended before anything of it is changed', async () => {
  await bring(spec);
  for (const live of listOf('/pools')) live.provisioning_status = 'ERROR';
  const { monitor: _, ...bare } = pool;
  expect(await bring({ ...spec, pools: { [poolId]: bare } })).toEqual(['PUT /pools/*', 'DELETE /healthmonitors/*']);
});
