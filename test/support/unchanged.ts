import { expect } from 'vitest';
import type { Answer, HttpClient } from './http-client.ts';

/** Checks that a change changed nothing: its task was finished from the beginning. Returns the task. */
export async function unchanged(http: HttpClient, { status, body, text }: Answer): Promise<Answer['body']> {
  expect(status, text).toBe(200);
  const [id, ...more] = Array.isArray(body) ? body : body.tasks;
  expect(more).toEqual([]);
  const { body: task } = await http.get(`/v1/tasks/${id}`);
  expect(task).toMatchObject({ state: 'FINISHED', error: null, finished_on: task.created_on });
  return task;
}
