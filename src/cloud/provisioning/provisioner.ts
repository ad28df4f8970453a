import { TaskFailure, type TaskRun } from '../../workflows/task-handler.ts';

/** How far an order has come; `askAgainMs` is null when it is done. */
export interface Progress {
  /** What it is doing, in the words of the infrastructure, such as `spawning`. */
  state: string;
  askAgainMs: number | null;
}

/**
 * Infrastructure that makes and removes things which take their time. An id that was ordered before changes
 * nothing when it is ordered again, and so with removals; one that was never ordered is removed at once.
 */
export interface Provisioner<Order extends { id: string }, Removal extends { id: string } = { id: string }> {
  order(order: Order): Promise<void>;
  remove(removal: Removal): Promise<void>;
  /** @throws TaskFailure with what went wrong, for the task's reader */
  progress(id: string): Promise<Progress>;
}

/** More than any order asks; a provisioner that never says it is done must not be asked for ever. */
const MOST_QUESTIONS = 10_000;

/** Orders and waits. What was half made is removed again, by `undo`, when it fails: an order without answer may have come through. */
export async function provision<Order extends { id: string }, Removal extends { id: string }>(
  run: TaskRun,
  provisioner: Provisioner<Order, Removal>,
  order: Order,
  undo: Removal,
): Promise<void> {
  try {
    await run.step('order', () => provisioner.order(order));
    await untilDone(run, provisioner, order.id);
  } catch (error) {
    // What the task's reader needs to know is why it failed, not that the tidying failed too.
    await run.step('remove what failed', () => provisioner.remove(undo)).catch(() => {});
    throw error;
  }
}

export async function unprovision<Removal extends { id: string }>(
  run: TaskRun,
  provisioner: Provisioner<never, Removal>,
  removal: Removal,
): Promise<void> {
  await run.step('order removal', () => provisioner.remove(removal));
  await untilDone(run, provisioner, removal.id);
}

async function untilDone(
  run: TaskRun,
  provisioner: Pick<Provisioner<never>, 'progress'>,
  id: string,
): Promise<void> {
  for (let question = 1; question <= MOST_QUESTIONS; question++) {
    const { askAgainMs } = await run.step(`progress ${question}`, () => provisioner.progress(id));
    if (askAgainMs === null) return;
    await run.sleep(askAgainMs);
  }
  throw new TaskFailure('The infrastructure did not say that it was done');
}
