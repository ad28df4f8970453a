import { type TaskEnd, type TaskType, taskType } from '../../../../convergence/task-kind.ts';
import { settleSecrets } from '../tls.ts';
import { deleteParts, freeTree, type LbTable, PARTS, type PartTable, writeRow } from './store.ts';

/** A change of the tree. The rows have it from the beginning; what is to go stays until the end. */
export interface TreeChange {
  loadBalancerId: string;
  made: Partial<Record<PartTable, string[]>>;
  gone: Partial<Record<PartTable, string[]>>;
  /** What the changed columns held before, oldest first. */
  former: { table: LbTable; id: string; values: object }[];
  /** What the task made, as it shows it. */
  created: Record<string, string[]> | null;
}

export type TreeTask = TaskType<TreeChange>;

/** Every task that changes an existing load balancer, named as published. */
export const UPDATE = taskType<TreeChange>('update_loadbalancer');
export const RESIZE = taskType<TreeChange>('resize_loadbalancer');
export const FAIL_OVER = taskType<TreeChange>('failover_loadbalancer');
export const ADD_TAGS = taskType<TreeChange>('update_lbmetadata');
export const REPLACE_TAGS = taskType<TreeChange>('replace_lbmetadata');
export const DELETE_TAG = taskType<TreeChange>('delete_lbmetadata');
export const CREATE_LISTENER = taskType<TreeChange>('create_lblistener');
export const UPDATE_LISTENER = taskType<TreeChange>('patch_lblistener');
export const DELETE_LISTENER = taskType<TreeChange>('delete_lblistener');
export const CREATE_POOL = taskType<TreeChange>('create_lbpool');
export const UPDATE_POOL = taskType<TreeChange>('patch_lbpool');
export const DELETE_POOL = taskType<TreeChange>('delete_lbpool');
export const CREATE_MEMBER = taskType<TreeChange>('create_lbmember');
export const UPDATE_MEMBER = taskType<TreeChange>('update_lbmember');
export const DELETE_MEMBER = taskType<TreeChange>('delete_lbmember');
export const CREATE_MONITOR = taskType<TreeChange>('create_lbpool_health_monitor');
export const UPDATE_MONITOR = taskType<TreeChange>('update_lbpool_health_monitor');
export const CREATE_POLICY = taskType<TreeChange>('create_l7policy');
export const UPDATE_POLICY = taskType<TreeChange>('update_l7policy');
export const DELETE_POLICY = taskType<TreeChange>('delete_l7policy');
export const CREATE_RULE = taskType<TreeChange>('create_l7rule');
export const REPLACE_RULE = taskType<TreeChange>('put_l7rule');
export const DELETE_RULE = taskType<TreeChange>('delete_l7rule');

/** Ends of the tasks in the order of the constants. */
export function treeTasks(): TaskEnd[] {
  const end = (task: TreeTask): TaskEnd<TreeChange> => ({
    ...task,
    async complete(tx, { id }, { loadBalancerId, gone, former, created }) {
      // Children first: a policy may refer to a pool that goes as well.
      for (const table of PARTS.toReversed()) await deleteParts(tx, table, gone[table] ?? []);
      await settleSecrets(tx, loadBalancerId, touched({ gone, former, made: {} }));
      await freeTree(tx, loadBalancerId, id);
      return created;
    },
    async abandon(tx, { id }, { loadBalancerId, made, former }) {
      for (const { table, id: row, values } of former.toReversed()) await writeRow(tx, table, row, values);
      for (const table of PARTS.toReversed()) await deleteParts(tx, table, made[table] ?? []);
      await settleSecrets(tx, loadBalancerId, touched({ gone: {}, former, made }));
      await freeTree(tx, loadBalancerId, id);
    },
  });
  return [
    UPDATE,
    RESIZE,
    FAIL_OVER,
    ADD_TAGS,
    REPLACE_TAGS,
    DELETE_TAG,
    CREATE_LISTENER,
    UPDATE_LISTENER,
    DELETE_LISTENER,
    CREATE_POOL,
    UPDATE_POOL,
    DELETE_POOL,
    CREATE_MEMBER,
    UPDATE_MEMBER,
    DELETE_MEMBER,
    CREATE_MONITOR,
    UPDATE_MONITOR,
    CREATE_POLICY,
    UPDATE_POLICY,
    DELETE_POLICY,
    CREATE_RULE,
    REPLACE_RULE,
    DELETE_RULE,
  ].map(end);
}

/** Returns the listeners and pools that a change made, changed or removed. */
function touched({ made, gone, former }: Pick<TreeChange, 'former' | 'gone' | 'made'>) {
  const of = (table: 'lb_listeners' | 'lb_pools') => [
    ...new Set([
      ...(made[table] ?? []),
      ...(gone[table] ?? []),
      ...former.flatMap((row) => (row.table === table ? [row.id] : [])),
    ]),
  ];
  return { lb_listeners: of('lb_listeners'), lb_pools: of('lb_pools') };
}
