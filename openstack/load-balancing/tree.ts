import { Type } from 'typebox';
import { Refused } from '../../src/backends/contract/backend.ts';
import type { LoadBalancerSpec, PoolSpec } from '../../src/backends/contract/specs.ts';
import type { Api } from '../cloud/client.ts';
import { type Live, markOf, type Site, type Step } from '../resource.ts';
import * as parts from './parts.ts';

const LivePart = Type.Object({ id: Type.String(), tags: Type.Array(Type.String()) });
type LivePart = parts.LivePart;

/** The load balancer whose parts these are: its ID in the cloud, and its mark, which all of its parts have. */
interface Balancer {
  api: Api;
  id: string;
  mark: string;
  /** How often in a row it was tried to mend a part that is broken. */
  mended: number;
}

/** After that, the part is what Octavia can't do. */
const MOST_MENDED = 3;

type RuleSpec = LoadBalancerSpec['listeners'][string]['policies'][string]['rules'][string];

/** A part as it should be, and as it is. */
interface Pair {
  part: parts.Part;
  live: LivePart | undefined;
}

/**
 * Does the next thing that brings listeners, pools and what they have closer to the spec; undefined if they are as wanted. Each change
 * locks the load balancer for a while. Pools come before what leads to them, and go after it.
 */
export async function changeTree(
  site: Site<'load_balancer'>,
  { id }: Live,
  spec: LoadBalancerSpec,
): Promise<Step | undefined> {
  const { api, names, ref } = site;
  const balancer: Balancer = { api, id, mark: markOf(ref), mended: Number(site.notes.mended ?? 0) };
  const known: parts.Known = {
    secret: (secretId) => names.of(api, 'secret', secretId),
    subnet: (subnetId) => names.ifOurs(api, 'subnet', subnetId),
  };
  const list = (many: string) => partsIn(balancer, `/${many}`);
  const [allPools, allMonitors, allListeners, allPolicies] = await Promise.all([
    list('pools'),
    list('healthmonitors'),
    list('listeners'),
    list('l7policies'),
  ]);
  const pools = await pairs(spec.pools, allPools, (poolId, pool) => parts.poolPart(poolId, pool, known));
  const poolIdOf = (poolId: string | undefined) =>
    poolId === undefined ? null : (pools.get(poolId)?.live?.id ?? null);
  const monitors = new Map(
    Object.entries(spec.pools).flatMap(([poolId, { monitor }]) => {
      const part = monitor && parts.monitorPart(poolId, monitor);
      const own = allMonitors.filter((live) => isOf(live, poolIdOf(poolId)));
      return part ? [[poolId, { part, live: own.find((live) => parts.isPart(part, live)) }]] : [];
    }),
  );
  const listeners = await pairs(spec.listeners, allListeners, (listenerId, listener) =>
    parts.listenerPart(listenerId, listener, spec, poolIdOf(listener.defaultPoolId), known),
  );
  const policies = new Map(
    Object.entries(spec.listeners).flatMap(([listenerId, listener]) =>
      inOrder(listener.policies).map(([policyId, policy], index) => {
        const listener_id = listeners.get(listenerId)?.live?.id;
        const part = parts.policyPart(policyId, policy, { position: index + 1, listener_id, poolIdOf });
        return [policyId, { part, rules: policy.rules, live: allPolicies.find((live) => parts.isPart(part, live)) }];
      }),
    ),
  );

  const [members, rules] = await Promise.all([
    below(api, pools, 'members', (pool) => `/pools/${pool}/members`),
    below(api, policies, 'rules', (policy) => `/l7policies/${policy}/rules`),
  ]);

  const wantedMembers = (poolId: string) => parts.membersOf(spec, spec.pools[poolId] as PoolSpec, known);
  // What goes makes room: a port has one listener, a pool one monitor.
  const gone =
    (await removeFirst(balancer, '/l7policies', surplus(allPolicies, policies))) ??
    (await removeFirst(balancer, '/listeners', surplus(allListeners, listeners))) ??
    (await removeFirst(balancer, '/healthmonitors', surplus(allMonitors, monitors)));
  if (gone) return gone;
  for (const [poolId, pool] of pools) {
    const monitor = monitors.get(poolId);
    const done =
      (await bring(balancer, '/pools', 'pool', pool, { loadbalancer_id: id })) ??
      (await bringMembers(balancer, pool, await wantedMembers(poolId), members.get(poolId) ?? [])) ??
      (monitor && (await bring(balancer, '/healthmonitors', 'healthmonitor', monitor, { pool_id: pool.live?.id })));
    if (done) return done;
  }
  for (const listener of listeners.values()) {
    const done = await bring(balancer, '/listeners', 'listener', listener, { loadbalancer_id: id });
    if (done) return done;
  }
  for (const [policyId, policy] of policies) {
    const done =
      (await bring(balancer, '/l7policies', 'l7policy', policy)) ??
      (await bringRules(balancer, policy, rules.get(policyId) ?? []));
    if (done) return done;
  }
  return removeFirst(balancer, '/pools', surplus(allPools, pools));
}

/** Those of a listener in the order in which they are tried. */
const inOrder = <P extends { position: number }>(policies: Record<string, P>): [string, P][] =>
  Object.entries(policies).toSorted(
    ([oneId, one], [otherId, other]) => one.position - other.position || oneId.localeCompare(otherId),
  );

const isOf = ({ pools }: LivePart, poolId: string | null): boolean =>
  (pools as { id: string }[]).some((pool) => pool.id === poolId);

async function pairs<S>(
  specs: Record<string, S>,
  all: readonly LivePart[],
  partOf: (id: string, spec: S) => Promise<parts.Part>,
): Promise<Map<string, Pair>> {
  const made = await Promise.all(
    Object.entries(specs).map(async ([id, spec]) => [id, await partOf(id, spec)] as const),
  );
  return new Map(made.map(([id, part]) => [id, { part, live: all.find((live) => parts.isPart(part, live)) }]));
}

/** An answer that was lost may have left two of one. */
function surplus(all: readonly LivePart[], wanted: ReadonlyMap<string, Pair>): LivePart[] {
  const used = new Set([...wanted.values()].map(({ live }) => live));
  return all.filter((live) => !used.has(live));
}

/** Some clouds ignore filters. */
async function partsIn({ api, mark }: Balancer, path: string): Promise<LivePart[]> {
  const found = (await api.list('load-balancer', path, LivePart, { tags: mark })) as LivePart[];
  return found.filter(({ tags }) => tags.includes(mark));
}

/** Lists what is below each part that has something there. */
async function below(
  api: Api,
  of: ReadonlyMap<string, Pair>,
  many: 'members' | 'rules',
  pathOf: (id: string) => string,
): Promise<Map<string, LivePart[]>> {
  const lists = [...of].map(async ([id, { live }]) => {
    const some = (live?.[many] as unknown[] | undefined)?.length ?? 0;
    const found = live && some > 0 ? await api.list('load-balancer', pathOf(live.id), LivePart) : [];
    return [id, found] as const;
  });
  return new Map(await Promise.all(lists));
}

async function removeFirst({ api }: Balancer, path: string, [first]: readonly Live[]): Promise<Step | undefined> {
  if (!first) return undefined;
  await api.send('load-balancer', 'DELETE', `${path}/${first.id}`, undefined);
  return { doing: `removing a part of ${path.slice(1)}` };
}

/** Makes a part below its parent, or changes it; undefined if it is as wanted. */
async function bring(
  balancer: Balancer,
  path: string,
  one: string,
  { part, live }: Pair,
  parent: parts.Fields = {},
): Promise<Step | undefined> {
  const { api, mark } = balancer;
  if (live && parts.isAsWanted(part, live, mark)) return undefined;
  const mending = mendingOf(balancer, one, live ? [live] : []);
  const body = parts.bodyOf(part, mark);
  if (live) await api.send('load-balancer', 'PUT', `${path}/${live.id}`, { [one]: withNulls(body) });
  else await api.send('load-balancer', 'POST', path, { [one]: withoutNulls({ ...parent, ...part.fixed, ...body }) });
  return { doing: `${live ? 'changing' : 'making'} a ${one}`, ...mending };
}

/** Counts what is done about parts that are broken. @throws Refused if it was done too often */
function mendingOf({ mended }: Balancer, one: string, live: readonly LivePart[]): Pick<Step, 'notes'> {
  if (!live.some(parts.isBroken)) return {};
  if (mended >= MOST_MENDED)
    throw new Refused(`Octavia could not make the ${one} as it should be: it is in the state ERROR`);
  return { notes: { mended: mended + 1 } };
}

/** Octavia gives back its own choice for a null. */
const withNulls = (fields: parts.Fields): parts.Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? null]));

const withoutNulls = (fields: parts.Fields): parts.Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/** Changes all members of a pool at once. Octavia tells them apart by address and port, and changes no subnet: such a member goes first. */
async function bringMembers(
  balancer: Balancer,
  pool: Pair,
  wanted: readonly parts.Fields[],
  live: readonly LivePart[],
): Promise<Step | undefined> {
  const isAsWanted =
    wanted.length === live.length &&
    !live.some(parts.isBroken) &&
    wanted.every((one) => live.some((other) => parts.hasFields(other, one)));
  if (isAsWanted) return undefined;
  const mending = mendingOf(balancer, 'member', live);
  const isElsewhere = (one: parts.Fields) =>
    live.some((other) => keyOf(one) === keyOf(other) && other.subnet_id !== one.subnet_id);
  const members = wanted.filter((one) => !isElsewhere(one));
  await balancer.api.send('load-balancer', 'PUT', `/pools/${pool.live?.id}/members`, { members });
  return { doing: 'changing members', ...mending };
}

const keyOf = ({ address, protocol_port }: parts.Fields): string => `${address} ${protocol_port}`;

async function bringRules(
  balancer: Balancer,
  policy: Pair & { rules: Record<string, RuleSpec> },
  live: readonly LivePart[],
): Promise<Step | undefined> {
  const path = `/l7policies/${policy.live?.id}/rules`;
  const wanted = await pairs(policy.rules, live, async (id, rule) => parts.rulePart(id, rule));
  for (const rule of wanted.values()) {
    const done = await bring(balancer, path, 'rule', rule);
    if (done) return done;
  }
  return removeFirst(balancer, path, surplus(live, wanted));
}
