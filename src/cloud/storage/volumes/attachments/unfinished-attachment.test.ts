import { expect, it } from 'vitest';
import type { Answer } from '../../../../../test/support/http-client.ts';
import { alreadyThere } from '../../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';

// The simulation is so slow that no task ends unless the test makes it end.
const slowly = { TRADEWIND_SIMULATION_SPEED: '0.01' };

it('an attachment that fails is 409 with the reason, and leaves the volume as it was', async () => {
  const service = await startService(slowly);
  try {
    const { url, answering } = await attaching(service);
    await service.pool.query(`update tasks set deadline_at = now() - interval '1 second'`);
    const answer = await answering;
    expect(answer.status, answer.text).toBe(409);
    expect(answer.body.message).toContain('was not changed');
    expect((await service.http.get(url)).body).toMatchObject({
      status: 'available',
      task_id: null,
      attachments: [],
    });
  } finally {
    await service.stop();
  }
});

it('one that is at work when the server stops is answered as it is, and keeps nobody waiting', async () => {
  const service = await startService(slowly);
  const { answering } = await attaching(service);
  await service.stop();
  const answer = await answering;
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.status).toBe('attaching');
  expect(answer.headers.get('connection')).toBe('close');
});

/** Sends a request that waits for the attachment of a volume to an instance. */
async function attaching(service: TestService): Promise<{ url: string; answering: Promise<Answer> }> {
  const made = `gen_random_uuid(), 1, 1`;
  const { rows: volumes } = await service.pool.query(
    `insert into volumes (id, project_id, region_id, name, size_gib, volume_type, status, bootable, tags,
       creator_task_id, task_id, created_at, updated_at)
     values (${made}, 'disk', 5, 'standard', 'available', false, '{}', gen_random_uuid(), null, now(), now())
     returning id`,
  );
  const { rows: instances } = await service.pool.query(
    `insert into instances (id, project_id, region_id, name, status, vm_state, flavor_id, flavor, tags,
       creator_task_id, task_id, created_at, updated_at)
     values (${made}, 'host', 'ACTIVE', 'active', 'g1-standard-1-2', '{}', '{}', gen_random_uuid(), null, now(), now())
     returning id`,
  );
  await alreadyThere(service.pool, 'machine', instances[0].id, {
    name: 'host',
    flavorId: 'g1-standard-1-2',
    disks: {},
    ports: {},
    secrets: {},
    power: 'on',
    reboots: { soft: 0, hard: 0 },
    metadata: {},
  });
  const url = `/cloud/v1/volumes/1/1/${volumes[0].id}`;
  const answering = service.http.post(`${url}/attach`, { instance_id: instances[0].id });
  await expect.poll(async () => (await service.http.get(url)).body.status).toBe('attaching');
  return { url, answering };
}
