import { expect, it } from 'vitest';
import type { ListenerSpec } from '../../src/backends/contract/specs.ts';
import { newSamples } from '../../test/backends/samples.ts';
import * as parts from './parts.ts';

const MARK = 'tradewind-load_balancer-1';
const known: parts.CloudIds = { secret: async (id) => `http://keys/${id}`, subnet: async (id) => `their-${id}` };
const { spec } = newSamples().load_balancer;
const [[listenerId, listener]] = Object.entries(spec.listeners) as [[string, ListenerSpec]];
const [[, pool]] = Object.entries(spec.pools) as [[string, (typeof spec.pools)[string]]];

const listenerPart = (more: Partial<ListenerSpec> = {}, balancer = spec) =>
  parts.listenerPart(listenerId, { ...listener, ...more }, balancer, 'their-pool', known);
/** As Octavia has it, which fills in what is left out. */
const live = (part: parts.Part, more: parts.Fields = {}): parts.LivePart => {
  const chosen = { timeout_client_data: 50_000, timeout_member_data: 50_000, timeout_member_connect: 5_000 };
  const told = Object.entries(parts.bodyOf(part, MARK)).filter(([, value]) => value !== undefined);
  return { ...chosen, ...part.fixed, ...Object.fromEntries(told), ...more, id: 'theirs' } as unknown as parts.LivePart;
};

it('a part is as wanted, whatever Octavia chose where it was left the choice', async () => {
  const part = await listenerPart();
  expect(parts.isAsWanted(part, live(part), MARK)).toBe(true);
  expect(parts.isAsWanted(part, live(part, { timeout_client_data: 1 }), MARK)).toBe(true);
});

it('what somebody else changed is not as wanted', async () => {
  const part = await listenerPart({ allowedCidrs: ['10.0.0.0/8', '192.0.2.0/24'] });
  for (const change of [{ name: 'other' }, { default_pool_id: null }, { allowed_cidrs: ['10.0.0.0/8'] }, { tags: [] }])
    expect(parts.isAsWanted(part, live(part, change), MARK), JSON.stringify(change)).toBe(false);
  const turned = { allowed_cidrs: ['192.0.2.0/24', '10.0.0.0/8'] };
  expect(parts.isAsWanted(part, live(part, turned), MARK)).toBe(true);
});

it('a choice is given back to Octavia', async () => {
  const before = live(await listenerPart({ timeouts: { clientData: 1_000 } }));
  const part = await listenerPart();
  expect(parts.isPart(part, before)).toBe(true);
  expect(parts.isAsWanted(part, before, MARK)).toBe(false);
});

it('a listener has the timeouts of its default pool where it has none of its own', async () => {
  const [id] = Object.keys(spec.pools) as [string];
  const pools = { [id]: { ...pool, timeouts: { memberData: 2_000, memberConnect: 3_000 } } };
  const { fields } = await listenerPart({ timeouts: { memberData: 1_000 } }, { ...spec, pools });
  expect(fields).toMatchObject({ timeout_member_data: 1_000, timeout_member_connect: 3_000 });
});

it('a pool of another protocol is another one', async () => {
  const before = live(await parts.poolPart('p', pool, known));
  expect(parts.isPart(await parts.poolPart('p', { ...pool, protocol: 'TCP' }, known), before)).toBe(false);
  expect(parts.isPart(await parts.poolPart('q', pool, known), before)).toBe(false);
});

it('members of instances are reached in their own subnet, unless they are routed to', async () => {
  const members = { m: { ...Object.values(pool.members)[0], subnetId: 's', instanceId: 'i' } } as typeof pool.members;
  const subnetWith = async (connectivity: 'L2' | 'L3') =>
    (await parts.membersOf({ connectivity }, { ...pool, members }, known))[0]?.subnet_id;
  expect([await subnetWith('L2'), await subnetWith('L3')]).toEqual(['their-s', null]);
});
