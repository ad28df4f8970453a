import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../support/api.ts';

const PATIENCE_MS = 30_000;

/** Waits for the task in an answer, and returns what it made, by kind. */
export async function finished(api: Api, answer: unknown): Promise<Record<string, string[]>> {
  const [id] = answer as string[];
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const task = (await api.call('GET', `/v1/tasks/${id}`)) as {
      state: string;
      error: string | null;
      created_resources: Record<string, string[]> | null;
    };
    if (task.state === 'FINISHED') return task.created_resources ?? {};
    if (task.state === 'ERROR') throw new Error(`Task ${id} failed: ${task.error}`);
    if (Date.now() > end) throw new Error(`Task ${id} is still ${task.state}`);
    await sleep(20);
  }
}
