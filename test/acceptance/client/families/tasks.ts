import { describe, expect, it } from 'vitest';
import type { Page, Task } from '../shapes.ts';
import { refusal, type Walk } from '../walk.ts';

/** Comes last: by now there are tasks of many kinds. */
export function describeTasks({ client, impatient, place }: Walk): void {
  describe('tasks', () => {
    const TASKS = '/cloud/v1/tasks';
    let some: Task[];

    it('lists them by state, kind and project, page by page', async () => {
      const query = { project_id: [1], region_id: [1], state: ['FINISHED', 'ERROR'], order_by: 'asc' };
      some = await client.all<Task>(TASKS, { ...query, task_type: 'create_network', limit: 1 });
      expect(some.length).toBeGreaterThan(1);
      expect(new Set(some.map(({ id }) => id)).size).toBe(some.length);
      for (const task of some) expect(task).toMatchObject({ task_type: 'create_network', state: 'FINISHED' });
      const latest = await client.get<Page<Task>>(TASKS, {
        ...query,
        from_timestamp: '2100-01-01T00:00:00Z',
      });
      expect(latest).toEqual({ count: 0, results: [] });
    });

    it('reads one under both addresses', async () => {
      const [task] = some;
      expect(await client.get(`${TASKS}/${task?.id}`)).toEqual(await client.get(`/v1/tasks/${task?.id}`));
      await expect(impatient.get(`${TASKS}/6f1c7b3e-8d1a-4f0e-9b62-0d1f2e3a4b5c`)).rejects.toMatchObject(
        refusal(404),
      );
    });

    it('lists those that have not ended', async () => {
      expect(
        await client.all(`${place(TASKS)}/active`, { task_type: ['create_network', 'create_vm'] }),
      ).toEqual([]);
    });

    it('acknowledges one, some and all', async () => {
      const [one, two] = some;
      expect(await client.post(`${TASKS}/${one?.id}/acknowledge`)).toMatchObject({
        acknowledged_by: expect.any(Number),
      });
      await client.silent('POST', `${TASKS}/acknowledge`, { task_ids: [two?.id] }, { project_id: 1 });
      expect(await client.get(`${TASKS}/${two?.id}`)).toMatchObject({ acknowledged_at: expect.any(String) });
      await client.silent('POST', `${TASKS}/acknowledge_all`, undefined, { project_id: 1, region_id: 1 });
      const left = { project_id: [1], region_id: [1], is_acknowledged: false };
      expect(await client.get(TASKS, left)).toEqual({ count: 0, results: [] });
    });
  });
}
