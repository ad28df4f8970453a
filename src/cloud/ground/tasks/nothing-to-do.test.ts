import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

async function make(path: string, body: object): Promise<string> {
  const { status, text, body: answer } = await service.http.post(path, body);
  expect(status, text).toBe(200);
  const task = await service.http.task(answer[0]);
  expect(task.state, task.error).toBe('FINISHED');
  return String(Object.values(task.created_resources).flat()[0]);
}

it.each([
  ['an address that leads nowhere', 'update_floating_ip', 'v2/floatingips', {}, { port_id: null }],
  ['a network', 'update_network', 'v2/networks', { name: 'idle', create_router: false }, { name: 'idle' }],
  ['a router', 'update_router', 'v2/routers', { name: 'idle' }, { name: 'idle' }],
  [
    'a share',
    'update_sfs',
    'v3/file_shares',
    {
      name: 'idle',
      protocol: 'NFS',
      size: 1,
      type_name: 'vast',
    },
    { name: 'idle' },
  ],
])(
  'a change of %s that changes nothing is a finished task for official clients',
  async (_, type, path, body, change) => {
    const id = await make(`/cloud/${path.replace(/^v./, 'v1')}/1/1`, body);
    const none = await service.http.patch(`/cloud/${path}/1/1/${id}`, change);
    expect(none.body, none.text).toEqual([]);
    const answer = await service.http.patch(`/gcore/cloud/${path}/1/1/${id}`, change);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.tasks).toHaveLength(1);
    const task = await service.http.get(`/gcore/cloud/v1/tasks/${answer.body.tasks[0]}`);
    expect(task.body).toMatchObject({ task_type: type, state: 'FINISHED', error: null, project_id: 1 });
  },
);
