import { type Transaction, violates } from '../../../../db/database.ts';
import { ConflictError, type FieldProblem } from '../../../../lib/errors.ts';
import type { Scope } from '../../../../platform.ts';
import type { CreateLoadBalancer } from '../creation-schema.ts';
import { insertPools, type MadePools, wantedPool } from '../pools/new-pool.ts';
import { MOST_IN_ALL } from '../schema.ts';
import { useListenerSecrets } from '../tls.ts';
import type { Edit, NewPart } from '../tree/edits.ts';
import * as rules from './rules.ts';
import type { NewListener } from './schema.ts';

export type WantedListener = Omit<NewPart<'lb_listeners'>, 'default_pool_id'>;

/** Returns the listener that a request asks for, and adds its problems. */
export function wantedListener(given: NewListener, at: string, problems: FieldProblem[]): WantedListener {
  const listener = {
    name: given.name,
    protocol: given.protocol,
    protocol_port: given.protocol_port,
    admin_state_up: true,
    connection_limit: connectionLimit(given.connection_limit),
    insert_x_forwarded: given.insert_x_forwarded ?? false,
    allowed_cidrs: rules.canonicalRanges(given.allowed_cidrs ?? null, `${at}allowed_cidrs`, problems),
    timeout_client_data: given.timeout_client_data ?? null,
    timeout_member_connect: given.timeout_member_connect ?? null,
    timeout_member_data: given.timeout_member_data ?? null,
    user_list: given.user_list ?? [],
    secret_id: given.secret_id?.toLowerCase() || null,
    sni_secret_ids: lowerCase(given.sni_secret_id ?? []),
  };
  problems.push(...rules.listenerProblems(listener, at));
  return listener;
}

export const lowerCase = (ids: readonly string[]): string[] => ids.map((id) => id.toLowerCase());

/** -1 is translated, as published. */
export const connectionLimit = (given = rules.DEFAULT_CONNECTION_LIMIT): number =>
  given === -1 ? rules.DEFAULT_CONNECTION_LIMIT : given;

/** Returns the problems of several new listeners of one load balancer with each other. */
export function listenersProblems(
  listeners: readonly Pick<WantedListener, 'protocol' | 'protocol_port'>[],
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const key = ({ protocol, protocol_port }: (typeof listeners)[number]) => `${protocol === 'UDP'} ${protocol_port}`;
  for (const [index, listener] of listeners.entries()) {
    if (listeners.findIndex((one) => key(one) === key(listener)) === index) continue;
    const message = `Another listener has port ${listener.protocol_port}; send each port once.`;
    problems.push({ field: `listeners.${index}.protocol_port`, message });
  }
  if (listeners.filter(({ protocol }) => protocol !== 'PROMETHEUS').length > rules.MAX_LISTENERS) {
    problems.push({ field: 'listeners', message: `At most ${rules.MAX_LISTENERS} listeners are allowed.` });
  }
  return problems;
}

export function poolProblem(
  listener: Pick<WantedListener, 'protocol'>,
  pool: Parameters<typeof rules.poolMisfit>[1],
  field: string,
): FieldProblem[] {
  const message = rules.poolMisfit(listener.protocol, pool);
  return message === undefined ? [] : [{ field, message }];
}

/** @throws ConflictError when another listener has the port */
export async function insertListener(
  tx: Transaction,
  edit: Edit,
  listener: WantedListener,
  { defaultPoolId, at }: { defaultPoolId: string | null; at: string },
): Promise<string> {
  const inserting = edit.insert('lb_listeners', [{ ...listener, default_pool_id: defaultPoolId }]);
  const [id] = await inserting.catch((error: unknown) => {
    if (!violates(error, 'lb_listeners_port')) throw error;
    throw new ConflictError(
      `Load balancer ${edit.balancer.id} already has a listener on port ${listener.protocol_port}; choose another port`,
    );
  });
  if (id === undefined) throw new TypeError('each row gets an ID');
  await useListenerSecrets(tx, edit, { ...listener, id }, { at });
  return id;
}

/** The listeners that are created with their load balancer, each with its default pool if it has one. */
export type WantedTree = ReturnType<typeof wantedTree>;

/** Adds the problems of the listeners and their pools. */
export function wantedTree(given: CreateLoadBalancer['listeners'] = [], problems: FieldProblem[]) {
  const wanted = given.map(({ pools: [pool] = [], ...listener }, index) => {
    const at = `listeners.${index}.`;
    const one = { listener: wantedListener(listener, at, problems), pool: undefined };
    if (!pool) return one;
    problems.push(...poolProblem(listener, pool.protocol, `${at}pools.0.protocol`));
    return { ...one, pool: wantedPool(pool, `${at}pools.0.`, problems) };
  });
  problems.push(...listenersProblems(wanted.map(({ listener }) => listener)));
  const members = wanted.reduce((sum, { pool }) => sum + (pool?.members.length ?? 0), 0);
  if (members > MOST_IN_ALL.members) {
    const message = `They have ${members} members in all; at most ${MOST_IN_ALL.members} are allowed.`;
    problems.push({ field: 'listeners', message });
  }
  return wanted;
}

/** Returns the problems of ranges whose family none of the load balancer's addresses has. */
export const treeMisfits = (wanted: WantedTree, addresses: readonly string[]): FieldProblem[] =>
  wanted.flatMap(({ listener }, index) =>
    rules.rangeFamilyProblems(listener.allowed_cidrs, addresses, `listeners.${index}.allowed_cidrs`),
  );

/** Writes the tree. Returns the IDs as the task shows them. @throws InvalidError for members that are nowhere */
export async function insertTree(
  tx: Transaction,
  scope: Scope,
  edit: Edit,
  wanted: WantedTree,
): Promise<MadePools & { listeners: string[] }> {
  const made = await insertPools(
    tx,
    scope,
    edit,
    wanted.flatMap(({ pool }) => pool ?? []),
  );
  const poolIds = [...made.pools];
  const listeners: string[] = [];
  for (const [index, { listener, pool }] of wanted.entries()) {
    const defaultPoolId = pool ? (poolIds.shift() ?? null) : null;
    listeners.push(await insertListener(tx, edit, listener, { defaultPoolId, at: `listeners.${index}.` }));
  }
  return { listeners, ...made };
}
