import type { TaskRun } from '../../workflows/task-handler.ts';

/** Has one change carried out, and waits until the infrastructure has settled. */
export async function settled(
  run: TaskRun,
  step: string,
  change: () => Promise<{ settlesInMs: number }>,
): Promise<null> {
  const { settlesInMs } = await run.step(step, change);
  await run.sleep(settlesInMs);
  return null;
}
