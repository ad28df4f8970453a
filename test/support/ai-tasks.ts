import { expect, vi } from 'vitest';
import type { HttpClient } from './http-client.ts';

export async function createAiTask(http: HttpClient, body: object): Promise<string> {
  const answer = await http.post('/streaming/ai/tasks', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.task_id;
}

export const readAiTask = async (http: HttpClient, id: string) => (await http.get(`/streaming/ai/tasks/${id}`)).body;

/** Returns the task when it has ended. */
export const endedAiTask = (http: HttpClient, id: string, timeout = 120_000) =>
  vi.waitFor(
    async () => {
      const task = await readAiTask(http, id);
      if (task.processing_time.completed_at === null) throw new Error(`${id} is ${task.status}`);
      return task;
    },
    { timeout, interval: 25 },
  );

/** Activates for an account what AI tasks need. `http` has the rights of its reseller. */
export async function activateAiFeatures(http: HttpClient, client_id: number): Promise<void> {
  for (const [kind, feature_id] of [
    ['paid', 5],
    ['free', 6],
  ]) {
    const answer = await http.post(`/iam/admin/${kind}_features`, { client_id, feature_id });
    expect(answer.status, answer.text).toBe(201);
  }
}
