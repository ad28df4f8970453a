import { expect, test } from 'vitest';
import { ConflictError } from './errors.ts';
import { blockerOf, inUse, LOOKED_AT, refuseHeld, twice } from './ids.ts';

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

test.each([
  ['one of the users leaves', inUse('', ['t1', undefined]), 2],
  ['one has left', inUse('', [undefined], true), 2],
  ['all stay', inUse('', [undefined, undefined]), 1],
  ['all leave, for which it may wait', inUse('', ['t1', 't2']), 1],
])('a refused deletion is tried %2$s times if %0$s', async (_what, refusal, times) => {
  let tries = 0;
  const remove = async () => {
    tries++;
    throw refusal;
  };
  await expect(twice(remove)).rejects.toBe(refusal);
  expect(tries).toBe(times);
});

test('a deletion waits for all users to leave, unless they are too many', () => {
  expect(inUse('', ['t1', 't2'])).toMatchObject({ taskId: 't1' });
  expect(inUse('', Array(LOOKED_AT).fill('t1'))).not.toHaveProperty('taskId');
});
