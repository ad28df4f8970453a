import { getTask } from '../../cloud/ground/tasks/service.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import type { TaskStep, TaskSteps } from './schema.ts';
import { deletionSteps, type Noted, notedSteps, type OpenStep, openSteps } from './store.ts';

/** A task that goes on for days notes more than anybody reads. */
const MOST_NOTES = 2_000;

/** @throws NotFoundError for an unknown task and for another account's task */
export async function stepsOfTask(on: Platform, principal: Principal, taskId: string): Promise<TaskSteps> {
  const { id, state, data } = await getTask(on, principal, taskId);
  const { notes, named } = await notedSteps(on.database.sql, id, MOST_NOTES);
  const open = await openSteps(on.database.sql, id);
  const deleted = (await deletionSteps(on.database.sql, id)).map(
    (one): TaskStep => ({ ...one, failures: 0, history: [] }),
  );
  const { waits_for: holder } = data as { waits_for?: string };
  const waiting = state === 'NEW' && holder !== undefined ? [waitingFor(holder)] : [];
  const steps = [...waiting, ...deleted, ...stepsOf({ open, notes, named, hasFailed: state === 'ERROR' })];
  const done = steps.filter((one) => one.state === 'done' || one.state === 'removed').length;
  return { task_id: id, state, done, of: steps.length, steps };
}

/** A deletion that begins when another task has ended. */
const waitingFor = (holder: string): TaskStep => ({
  kind: 'task',
  id: holder,
  state: 'waiting',
  doing: `waiting for the end of task ${holder}`,
  failures: 0,
  history: [],
});

interface Known {
  open: readonly OpenStep[];
  notes: readonly Noted[];
  named: readonly { kind: string; id: string }[];
  hasFailed: boolean;
}

function stepsOf({ open, notes, named, hasFailed }: Known): TaskStep[] {
  const steps = new Map<string, TaskStep>();
  const step = ({ kind, id }: { kind: string; id: string }): TaskStep => {
    const key = `${kind} ${id}`;
    const known = steps.get(key) ?? { kind, id, state: 'done', doing: null, failures: 0, history: [] };
    steps.set(key, known);
    return known;
  };
  for (const one of open) Object.assign(step(one), one);
  const stillOpen = new Set(steps.keys());
  for (const one of named) step(one);
  for (const { at, state, doing, failures, ...name } of notes)
    step(name).history.push({ at: at.toISOString(), state, doing, failures });
  for (const [key, one] of steps) {
    if (stillOpen.has(key)) continue;
    // The task has ended: as wanted, or as its last note says.
    const last = one.history.at(-1);
    if (last?.state === 'removed') one.state = 'removed';
    else if (hasFailed && last?.state !== 'done') {
      Object.assign(one, { state: 'given up', doing: last?.doing ?? null, failures: last?.failures ?? 0 });
    }
  }
  return [...steps.values()];
}
