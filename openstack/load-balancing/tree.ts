import { Type } from 'typebox';
import { Refused } from '../../src/backends/contract/backend.ts';
import type { L7PolicySpec, LoadBalancerSpec, PoolSpec } from '../../src/backends/contract/specs.ts';
import { type Live, markOf, type Site, type Step } from '../resource.ts';
import * as parts from './parts.ts';

const LivePart = Type.Object({ id: Type.String(), tags: Type.Array(Type.String()) });
type LivePart = parts.LivePart;

/** The load balancer whose parts these are: its ID in the cloud, and its mark, which all of its parts have. */
interface Balancer extends Site<'load_balancer'> {
  id: string;
  mark: string;
}

/** A part as it should be, and as it is. */
interface Pair {
  part: parts.Part;
  live: LivePart | undefined;
}
type Pairs<P extends Pair = Pair> = ReadonlyMap<string, P>;

/** By our IDs; monitors by those of their pools. */
interface Tree {
  pools: Pairs;
  monitors: Pairs;
  listeners: Pairs;
  policies: Pairs<Pair & { rules: L7PolicySpec['rules'] }>;
  /** What is below pools and policies, as it is. */
  members: ReadonlyMap<string, LivePart[]>;
  rules: ReadonlyMap<string, LivePart[]>;
  /** What nothing wanted uses. A lost answer may have left a part twice. */
  surplus: Record<'healthmonitor' | 'l7policy' | 'listener' | 'pool', LivePart[]>;
}

const PATHS = { healthmonitor: '/healthmonitors', l7policy: '/l7policies', listener: '/listeners', pool: '/pools' };
const rulesOf = (policyId: string): string => `/l7policies/${policyId}/rules`;
const membersIn = (poolId: string): string => `/pools/${poolId}/members`;
/** After so many attempts, Octavia can't do it. */
const MOST_ATTEMPTS = 3;

/**
 * Does the next thing that brings listeners, pools and what they have closer to the spec; undefined if they are as wanted. Each change
 * locks the load balancer for a while. Pools come before what leads to them, and go after it.
 */
export async function changeTree(
  site: Site<'load_balancer'>,
  { id }: Live,
  spec: LoadBalancerSpec,
): Promise<Step | undefined> {
  const balancer: Balancer = { ...site, id, mark: markOf(site.ref) };
  const known = idsFor(site);
  const tree = await readTree(balancer, spec, known);
  const { pools, surplus } = tree;
  // While a pool is broken, nothing of it can be changed.
  const broken = [...pools.values()].find(({ live }) => live && parts.isBroken(live));
  if (broken) return bring(balancer, 'pool', broken);
  // What goes makes room: a port has one listener, a pool one monitor.
  const removal =
    (await removeFirst(balancer, 'l7policy', surplus.l7policy)) ??
    (await removeFirst(balancer, 'listener', surplus.listener)) ??
    (await removeFirst(balancer, 'healthmonitor', surplus.healthmonitor));
  if (removal) return removal;
  for (const [poolId, pool] of pools) {
    const step = await bringPool(balancer, tree, poolId, pool, async () =>
      parts.membersOf(spec, spec.pools[poolId] as PoolSpec, known),
    );
    if (step) return step;
  }
  for (const listener of tree.listeners.values()) {
    const step = await bring(balancer, 'listener', listener, { loadbalancer_id: id });
    if (step) return step;
  }
  for (const [policyId, policy] of tree.policies) {
    const step =
      (await bring(balancer, 'l7policy', policy)) ??
      (await bringRules(balancer, policy.live?.id ?? '', policy.rules, tree.rules.get(policyId) ?? []));
    if (step) return step;
  }
  return removeFirst(balancer, 'pool', surplus.pool);
}

const idsFor = ({ api, names }: Site<'load_balancer'>): parts.CloudIds => ({
  secret: (secretId) => names.of(api, 'secret', secretId),
  subnet: (subnetId) => names.ifOurs(api, 'subnet', subnetId),
});

async function readTree(balancer: Balancer, spec: LoadBalancerSpec, known: parts.CloudIds): Promise<Tree> {
  const [allPools, allMonitors, allListeners, allPolicies] = await Promise.all([
    ownParts(balancer, PATHS.pool),
    ownParts(balancer, PATHS.healthmonitor),
    ownParts(balancer, PATHS.listener),
    ownParts(balancer, PATHS.l7policy),
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
    childrenOf(balancer, pools, 'members', membersIn),
    childrenOf(balancer, policies, 'rules', rulesOf),
  ]);
  const surplus = {
    l7policy: unused(allPolicies, policies),
    listener: unused(allListeners, listeners),
    pool: unused(allPools, pools),
    // Those of other pools go with these.
    healthmonitor: unused(allMonitors, monitors).filter((live) =>
      [...pools.keys()].some((poolId) => isOf(live, poolIdOf(poolId))),
    ),
  };
  return { pools, monitors, listeners, policies, members, rules, surplus };
}

/** Those of a listener in the order in which they are tried. */
const inOrder = (policies: Record<string, L7PolicySpec>): [string, L7PolicySpec][] =>
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

function unused(all: readonly LivePart[], wanted: Pairs): LivePart[] {
  const used = new Set([...wanted.values()].map(({ live }) => live));
  return all.filter((live) => !used.has(live));
}

/** Lists our parts of one kind. Some clouds ignore filters. */
async function ownParts({ api, mark }: Balancer, path: string): Promise<LivePart[]> {
  const found = (await api.list('load-balancer', path, LivePart, { tags: mark })) as LivePart[];
  return found.filter(({ tags }) => tags.includes(mark));
}

/** Lists all members of each pool, or all rules of each policy, also those that aren't ours: they change what ours do. */
async function childrenOf(
  { api }: Balancer,
  parents: Pairs,
  many: 'members' | 'rules',
  pathOf: (id: string) => string,
): Promise<Map<string, LivePart[]>> {
  const lists = [...parents].map(async ([id, { live }]) => {
    const some = (live?.[many] as unknown[] | undefined)?.length ?? 0;
    const found = live && some > 0 ? await api.list('load-balancer', pathOf(live.id), LivePart) : [];
    return [id, found] as const;
  });
  return new Map(await Promise.all(lists));
}

async function removeFirst(
  { api }: Balancer,
  kind: keyof typeof PATHS | 'rule',
  [first]: readonly Live[],
  path = PATHS[kind as keyof typeof PATHS],
): Promise<Step | undefined> {
  if (!first) return undefined;
  await api.send('load-balancer', 'DELETE', `${path}/${first.id}`, undefined);
  return { doing: `removing a ${kind}` };
}

/** Makes a part below its parent, or changes it; undefined if it is as wanted. */
async function bring(
  balancer: Balancer,
  kind: keyof typeof PATHS | 'rule',
  { part, live }: Pair,
  parent: parts.Fields = {},
  path = PATHS[kind as keyof typeof PATHS],
): Promise<Step | undefined> {
  const { api, mark } = balancer;
  if (live && parts.isAsWanted(part, live, mark)) return undefined;
  const attempt = live ? await countAttempt(balancer, kind, live.id, [live]) : {};
  const body = parts.bodyOf(part, mark);
  if (live) await api.send('load-balancer', 'PUT', `${path}/${live.id}`, { [kind]: withNulls(body) });
  else await api.send('load-balancer', 'POST', path, { [kind]: withoutNulls({ ...parent, ...part.fixed, ...body }) });
  return { doing: `${live ? 'changing' : 'making'} a ${kind}`, ...attempt };
}

/** Counts attempts to mend what is broken. @throws Refused after too many in a row */
async function countAttempt(
  { notes, remember }: Balancer,
  kind: string,
  id: string,
  live: readonly LivePart[],
): Promise<Pick<Step, 'notes'>> {
  if (!live.some(parts.isBroken)) return {};
  const attempts = notes.mending === id ? Number(notes.attempts) + 1 : 1;
  if (attempts <= MOST_ATTEMPTS) return { notes: { mending: id, attempts } };
  // Somebody may ask for it again, or for something else.
  await remember({ ...notes, attempts: 0 });
  throw new Refused(`Octavia could not configure the ${kind}: it is in the state ERROR`);
}

/** Null brings back Octavia's default. */
const withNulls = (fields: parts.Fields): parts.Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? null]));

const withoutNulls = (fields: parts.Fields): parts.Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

async function bringPool(
  balancer: Balancer,
  { members, monitors }: Tree,
  poolId: string,
  pool: Pair,
  wantedMembers: () => Promise<parts.Fields[]>,
): Promise<Step | undefined> {
  const monitor = monitors.get(poolId);
  return (
    (await bring(balancer, 'pool', pool, { loadbalancer_id: balancer.id })) ??
    (await bringMembers(balancer, pool.live?.id ?? '', await wantedMembers(), members.get(poolId) ?? [])) ??
    (monitor && bring(balancer, 'healthmonitor', monitor, { pool_id: pool.live?.id }))
  );
}

/** Changes all members of a pool at once. Octavia tells them apart by address and port, and changes no subnet: such a member goes first. */
async function bringMembers(
  balancer: Balancer,
  poolId: string,
  wanted: readonly parts.Fields[],
  live: readonly LivePart[],
): Promise<Step | undefined> {
  const isAsWanted =
    wanted.length === live.length &&
    !live.some(parts.isBroken) &&
    wanted.every((one) => live.some((other) => parts.hasFields(other, one)));
  if (isAsWanted) return undefined;
  const attempt = await countAttempt(balancer, 'member', poolId, live);
  const isElsewhere = (one: parts.Fields) =>
    live.some((other) => keyOf(one) === keyOf(other) && other.subnet_id !== one.subnet_id);
  const members = wanted.filter((one) => !isElsewhere(one));
  await balancer.api.send('load-balancer', 'PUT', membersIn(poolId), { members });
  return { doing: 'changing members', ...attempt };
}

const keyOf = ({ address, protocol_port }: parts.Fields): string => `${address} ${protocol_port}`;

async function bringRules(
  balancer: Balancer,
  policyId: string,
  rules: L7PolicySpec['rules'],
  live: readonly LivePart[],
): Promise<Step | undefined> {
  const path = rulesOf(policyId);
  const wanted = await pairs(rules, live, async (id, rule) => parts.rulePart(id, rule));
  for (const rule of wanted.values()) {
    const step = await bring(balancer, 'rule', rule, {}, path);
    if (step) return step;
  }
  return removeFirst(balancer, 'rule', unused(live, wanted), path);
}
