import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../api/client.ts';
import type { Context } from '../command.ts';
import { CommandError, EXIT, UnavailableError } from '../errors.ts';
import { shownText } from '../terminal/table.ts';

/** How long the server waits for the end of the task before we look at its steps again. */
const ROUND_S = 2;
/** A server that is being restarted comes back. */
const PATIENCE_MS = 60_000;

interface Task {
  id: string;
  task_type: string;
  state: string;
  error: string | null;
  created_resources?: Readonly<Record<string, readonly unknown[]>> | null;
}

interface Steps {
  done: number;
  of: number;
  steps: { state: string; doing: string | null; failures: number }[];
}

/**
 * Waits until a task has ended, and tells meanwhile what is being done.
 * @throws CommandError if the task fails, or hasn't ended after `withinMs`
 */
export async function waitForTask(context: Context, id: string, withinMs = Number.POSITIVE_INFINITY) {
  const { api, terminal } = context;
  const deadline = Date.now() + withinMs;
  const progress = createProgress(terminal);
  try {
    for (;;) {
      const left = Math.max(0, Math.min(ROUND_S, Math.ceil((deadline - Date.now()) / 1_000)));
      const task = await patiently(() => taskOf(api, id, left), deadline, terminal.stop);
      if (task.state === 'FINISHED') return task;
      if (task.state === 'ERROR') throw new CommandError(failure(task), EXIT.taskFailed);
      if (Date.now() >= deadline) throw new CommandError(`Task ${id} has not ended; it goes on`, EXIT.timedOut);
      progress.show(await patiently(() => stepsOf(api, id), deadline, terminal.stop));
    }
  } finally {
    progress.end();
  }
}

const taskOf = async (api: Api, id: string, seconds: number): Promise<Task> =>
  (await api.call('getTask', {
    parameters: { task_id: id },
    headers: { prefer: `wait=${seconds}` },
  })) as Task;

async function stepsOf(api: Api, id: string): Promise<string> {
  const { done, of, steps } = (await api.call('listTaskSteps', { parameters: { task_id: id } })) as Steps;
  const current = steps.find(({ state }) => state === 'doing') ?? steps.find(({ doing }) => doing !== null);
  const failures = current?.failures ? ` (failed ${current.failures} times, tries again)` : '';
  return `${done} of ${of}: ${current?.doing ?? 'waiting'}${failures}`;
}

const failure = ({ id, task_type, error }: Task): string =>
  `Task ${id} (${task_type}) failed: ${error ?? 'it gives no reason'}`;

/** Asks again while the server is away, but not after the deadline. */
async function patiently<T>(ask: () => Promise<T>, deadline: number, stop: AbortSignal): Promise<T> {
  const until = Math.min(Date.now() + PATIENCE_MS, deadline);
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof UnavailableError) || Date.now() > until) throw error;
      await sleep(1_000, undefined, { signal: stop });
    }
  }
}

/** On a terminal one line that changes; elsewhere a line for each change. */
function createProgress({ err, showsProgress }: Context['terminal']) {
  let shown = '';
  return {
    show(given: string) {
      const text = shownText(given);
      if (text === shown) return;
      shown = text;
      err(showsProgress ? `\r\u001b[K${text}` : `${text}\n`);
    },
    end() {
      if (showsProgress && shown !== '') err('\r\u001b[K');
    },
  };
}
