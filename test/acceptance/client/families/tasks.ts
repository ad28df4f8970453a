import { describe, expect, it } from 'vitest';
import type { Walk } from '../client.ts';

/** Comes last: by now there are tasks of many kinds. */
export function describeTasks({ client, place }: Walk): void {
  describe('tasks', () => {
    const TASKS = '/cloud/v1/tasks';

    it('reads one under both addresses, and acknowledges some', async () => {
      const [task] = await client.list<{ id: string }>(TASKS, { project_id: 1, task_type: 'create_network' });
      expect(await client.get(`${TASKS}/${task?.id}`)).toEqual(await client.get(`/v1/tasks/${task?.id}`));
      await client.silent('POST', `${TASKS}/acknowledge`, { task_ids: [task?.id] }, { project_id: 1 });
      expect(await client.get(`${TASKS}/${task?.id}`)).toMatchObject({ acknowledged_at: expect.any(String) });
    });

    it('lists those that have not ended', async () => {
      expect(await client.list(`${place(TASKS)}/active`, { task_type: 'create_network' })).toEqual([]);
    });
  });
}
