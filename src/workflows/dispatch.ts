import { randomUUID } from 'node:crypto';
import type { WorkflowQueue } from '@dbos-inc/dbos-sdk';
import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import { ENGINE_VERSION, QUEUE } from './dbos.ts';

/**
 * Takes work off the queue at once instead of at the engine's next poll. Calls during one pass are answered by one
 * more pass. The engine's own slow polling stays the safety net for a lost announcement.
 */
export function createDispatcher(queue: WorkflowQueue, failed: (error: unknown) => void): () => void {
  let passing = false;
  let again = false;
  async function pass(): Promise<void> {
    const executor = DBOSExecutor.globalInstance;
    if (!executor?.initialized) return;
    const owner = randomUUID();
    const { systemDatabase } = executor;
    const running = systemDatabase.countRunningWorkflowsForQueue(QUEUE);
    const claimed = await systemDatabase.findAndMarkStartableWorkflows(
      queue,
      executor.executorID,
      ENGINE_VERSION,
      undefined,
      running,
      0,
      owner,
    );
    if (claimed.length > 0) await executor.dispatchDequeuedWorkflows(claimed, owner);
  }
  async function passes(): Promise<void> {
    passing = true;
    do {
      again = false;
      await pass().catch(failed);
    } while (again);
    passing = false;
  }
  return () => {
    if (passing) again = true;
    else void passes();
  };
}
