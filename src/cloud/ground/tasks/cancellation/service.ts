import { failTask } from '../../../../convergence/failures.ts';
import type { TaskEnd } from '../../../../convergence/task-kind.ts';
import { endWaiting } from '../../../../convergence/waiting-deletions.ts';
import { ConflictError } from '../../../../lib/errors.ts';
import { noteAccount } from '../../../../lib/request-context.ts';
import type { Platform } from '../../../../platform.ts';
import type { Principal } from '../../../../requests/principal.ts';
import { getTask } from '../service.ts';
import { ENDED } from '../states.ts';
import type { TaskRow } from '../store.ts';

/** Changes that can't be taken back once they have begun, and why. Removals can't either. */
const IRREVERSIBLE: Readonly<Record<string, string>> = {
  extend_sfs: "a file share can't become smaller again",
  extend_volume: "a volume can't become smaller again",
  failover_loadbalancer: 'the other machine may have taken over already',
  hard_reboot_vm: 'the machine may have been restarted already',
  revert_volume: 'the data of the volume may have been replaced already',
  soft_reboot_vm: 'the machine may have been restarted already',
  upgrade_k8s_cluster_v2: "Kubernetes can't go back to an older version",
};

export const whyIrreversible = (taskType: string): string | undefined => IRREVERSIBLE[taskType];

function whyNot(type: string, kind: TaskEnd | undefined): string | undefined {
  if (!kind) return 'this version does not know its type';
  if (kind.removes) return 'part of what it removes may be gone already';
  return kind.keeps ? 'what it changed stays wanted' : whyIrreversible(type);
}

function refuseIrreversible(on: Platform, { id, task_type: type }: TaskRow): void {
  const why = whyNot(type, on.taskEnds.get(type));
  if (why !== undefined) throw new ConflictError(`Task ${id} (${type}) can't be cancelled: ${why}`);
}

/**
 * Ends the task with an ERROR, and has what it began undone, as if it had failed. Returns the ended task.
 * @throws NotFoundError; ConflictError for a task that has ended, and for what can't be undone
 */
export async function cancelTask(on: Platform, principal: Principal, taskId: string): Promise<TaskRow> {
  const task = await getTask(on, principal, taskId);
  if (ENDED.includes(task.state)) {
    throw new ConflictError(`Task ${task.id} has ended: its state is ${task.state}`);
  }
  noteAccount(task.client_id);
  await on.database.accept(async (tx) => {
    const reason = `Cancelled by user ${principal.userId}`;
    if (await endWaiting(on, tx, task.id, () => reason)) return;
    refuseIrreversible(on, task);
    if (await failTask(on, tx, task.id, reason)) return;
    throw new ConflictError(`Task ${task.id} has ended meanwhile`);
  });
  return getTask(on, principal, task.id);
}
