import { expect, it } from 'vitest';
import { TaskFailure, type TaskRun } from '../../workflows/task-handler.ts';
import { fileShareHandlers } from '../file-shares/workflow.ts';
import { provision } from './provisioner.ts';

const run: TaskRun = {
  taskId: 'task',
  step: (_name, work) => work(new AbortController().signal),
  sleep: async () => {},
};
const noAnswer = () => Promise.reject(new TaskFailure('No answer'));

it('removes what was ordered when the order has no answer, and says why it failed', async () => {
  const removed: object[] = [];
  const provisioner = {
    order: noAnswer,
    remove: async (removal: { id: string }) => {
      removed.push(removal);
      throw new TaskFailure('No answer to the removal either');
    },
    progress: async () => ({ state: 'done', askAgainMs: null }),
  };
  await expect(provision(run, provisioner, { id: 'order' }, { id: 'undo' })).rejects.toThrow(/^No answer$/);
  expect(removed).toEqual([{ id: 'undo' }]);
});

it('removes a share whose creation has no answer', async () => {
  const removed: string[] = [];
  const backend = {
    create: noAnswer,
    change: noAnswer,
    delete: async (id: string) => {
      removed.push(id);
      return { settlesInMs: 0 };
    },
  };
  const create = fileShareHandlers({ backend }).find(({ type }) => type === 'create_sfs');
  await expect(create?.run(run, { fileShareId: 'share', sizeGib: 1 })).rejects.toThrow(/^No answer$/);
  expect(removed).toEqual(['share']);
});
