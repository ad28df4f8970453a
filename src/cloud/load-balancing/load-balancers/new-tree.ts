import type { Transaction } from '../../../db/database.ts';
import type { FieldProblem } from '../../../lib/errors.ts';
import type { Scope } from '../../ground/projects/service.ts';
import type { CreateLoadBalancer } from './creation-schema.ts';
import { insertListener, listenersProblems, poolProblem, wantedListener } from './listeners/new-listener.ts';
import { insertPools, type MadePools, wantedPool } from './pools/new-pool.ts';
import { MOST_IN_ALL } from './schema.ts';
import type { Edit } from './tree/edits.ts';

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
