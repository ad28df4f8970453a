import { isDeepStrictEqual } from 'node:util';
import { change } from '../../../../convergence/wants.ts';
import type { Transaction } from '../../../../db/database.ts';
import { newId } from '../../../../lib/ids.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { beginTask, deletionId, recordDoneTask, refuseDoomed, wantChecked } from '../../../ground/tasks/service.ts';
import { lockFreeBalancer } from '../locks.ts';
import type { LoadBalancerRow } from '../store.ts';
import { loadBalancerSpec } from '../tasks.ts';
import * as store from './store.ts';
import type { TreeChange, TreeTask } from './tasks.ts';

/** Writes the rows of one change of a load balancer, and remembers how to put them back. */
export interface Edit {
  readonly balancer: Pick<LoadBalancerRow, 'id' | 'project_id' | 'region_id'>;
  insert<T extends store.PartTable>(table: T, rows: readonly NewPart<T>[]): Promise<string[]>;
  /** Returns whether anything differs. */
  update<T extends store.LbTable>(
    table: T,
    row: store.PartRow<T> & { id: string },
    values: Partial<store.PartRow<T>>,
  ): Promise<boolean>;
  remove(table: store.PartTable, ids: readonly string[]): Promise<void>;
}

export type NewPart<T extends store.PartTable> = Omit<store.PartValues<T>, 'id'> & { id?: string };

/** What a change means for its task. */
export interface Edited {
  /** The task's parameters. */
  data: object;
  /** What it makes. Older clients look there for what they change as well. */
  created?: Record<string, string[]>;
}

/**
 * Locks the load balancer, lets `plan` write rows, and starts the task that brings them about. If nothing differs, the
 * task has finished already: official clients need one to wait for.
 * @throws NotFoundError, ConflictError while a task holds it or if it will be deleted with new parts, what `plan` throws
 */
export const changeTree = (
  on: Platform,
  scope: Scope,
  task: TreeTask,
  find: (tx: Transaction) => Promise<string>,
  plan: (tx: Transaction, edit: Edit, balancer: LoadBalancerRow) => Promise<Edited>,
): Promise<string> =>
  on.database.accept(async (tx) => {
    const balancer = await lockFreeBalancer(tx, scope, await find(tx));
    const taskId = deletionId(scope);
    const { edit, changed } = startEdit(tx, balancer, taskId);
    const { data: given, created = null } = await plan(tx, edit, balancer);
    const data = { load_balancer_id: balancer.id, ...given };
    if (!differs(changed)) return recordDoneTask(on, tx, scope, { type: task.type, data, created });
    if (Object.values(changed.made).some((ids) => ids.length > 0)) {
      const doomed = { type: 'delete_loadbalancer', id: balancer.id };
      await refuseDoomed(tx, scope, `Load balancer ${balancer.name}`, doomed);
    }
    const held = { provisioning_status: 'PENDING_UPDATE', task_id: taskId };
    await store.writeRow(tx, 'load_balancers', balancer.id, held);
    const spec = await loadBalancerSpec(tx, balancer.id);
    return beginTask(on, tx, scope, {
      id: taskId,
      task,
      data,
      input: { loadBalancerId: balancer.id, ...changed, created },
      wants: [change('load_balancer', balancer.id, () => spec)],
    });
  });

/** Changes one row of a load balancer at once, without a task. @throws NotFoundError, ConflictError, what `plan` throws */
export const changeTreeNow = (
  on: Platform,
  scope: Scope,
  find: (tx: Transaction) => Promise<string>,
  plan: (tx: Transaction) => Promise<{ table: store.LbTable; id: string; values: object }>,
): Promise<void> =>
  on.database.accept(async (tx) => {
    const balancer = await lockFreeBalancer(tx, scope, await find(tx));
    const { table, id, values } = await plan(tx);
    await store.writeRow(tx, table, id, { ...values, updated_at: tx.now });
    const spec = await loadBalancerSpec(tx, balancer.id);
    await wantChecked(on, tx, scope, [change('load_balancer', balancer.id, () => spec)]);
  });

type Changed = Pick<TreeChange, 'former' | 'gone' | 'made'>;

function differs({ former, gone, made }: Changed): boolean {
  return [former, ...Object.values(gone), ...Object.values(made)].some((rows) => rows.length > 0);
}

/** For a new load balancer as well, whose parts are written in the same way. */
export function startEdit(
  tx: Transaction,
  balancer: Edit['balancer'],
  taskId: string,
): { edit: Edit; changed: Changed } {
  const changed: Changed = { made: {}, gone: {}, former: [] };
  const note = (among: 'gone' | 'made', table: store.PartTable, ids: readonly string[]) => {
    changed[among][table] = [...(changed[among][table] ?? []), ...ids];
  };
  let inserted = 0;
  const edit: Edit = {
    balancer,
    async insert(table, rows) {
      const ids = rows.map(({ id }) => id ?? newId());
      const before = inserted;
      inserted += rows.length;
      const whole = rows.map((row, index) => ({
        ...row,
        id: ids[index],
        project_id: balancer.project_id,
        region_id: balancer.region_id,
        load_balancer_id: balancer.id,
        provisioning_status: 'PENDING_CREATE',
        creator_task_id: taskId,
        task_id: taskId,
        created_at: inOrder(tx.now, before + index),
        updated_at: tx.now,
      }));
      await store.insertRows(tx, table, whole);
      note('made', table, ids);
      return ids;
    },
    async update<T extends store.LbTable>(
      table: T,
      row: store.PartRow<T> & { id: string },
      values: Partial<store.PartRow<T>>,
    ) {
      const columns = Object.keys(values) as (keyof typeof values & keyof typeof row)[];
      const differing = columns.filter((name) => !isDeepStrictEqual(values[name], row[name]));
      if (differing.length === 0) return false;
      const pick = (from: object) =>
        Object.fromEntries(differing.map((name) => [name, from[name as keyof typeof from]]));
      changed.former.push({ table, id: row.id, values: pick(row) });
      const held = table === 'load_balancers' ? {} : { provisioning_status: 'PENDING_UPDATE' };
      await store.writeRow(tx, table, row.id, { ...pick(values), ...held, task_id: taskId, updated_at: tx.now });
      return true;
    },
    async remove(table, ids) {
      await store.holdParts(tx, table, ids, { status: 'PENDING_DELETE', taskId });
      note('gone', table, ids);
    },
  };
  return { edit, changed };
}

/** Returns the time with an index in its microseconds, which keeps rows in the order of the request. */
function inOrder(now: Date, index: number): string {
  const time = new Date(now.getTime() + Math.floor(index / 1000));
  return time.toISOString().replace('Z', `${String(index % 1000).padStart(3, '0')}Z`);
}
