import { expect, test } from 'vitest';
import { ConflictError } from './errors.ts';
import { blockerOf, refuseHeld } from './held.ts';

test('what a task works on is refused, naming the task', () => {
  expect(() => refuseHeld('Volume 1', { task_id: null })).not.toThrow();
  expect(() => refuseHeld('Volume 1', { task_id: 't1' })).toThrow(ConflictError);
  expect(() => refuseHeld('Volume 1', { task_id: 't1' })).toThrow('held by task t1');
});

test.each([
  ['available', null, undefined],
  ['error', null, 'its status error'],
  ['available', 't1', 'task t1'],
])('with status %s and task %s a copy waits for %s', (status, task_id, blocker) => {
  expect(blockerOf({ status, task_id }, 'available')).toBe(blocker);
});
