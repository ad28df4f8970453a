import { afterAll, beforeAll, expect, it } from 'vitest';
import { DRY_RUN } from '../../../../test/support/dry-runs.ts';
import { specOf } from '../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

/* Simulated groups take no time, so that no worker is needed for them. There is none here. */

const GROUPS = '/cloud/v1/securitygroups/1/1';
const NOTHING = { wanted: undefined, there: undefined };

let service: TestService;
beforeAll(async () => {
  service = await startService({}, { role: 'api' });
});
afterAll(() => service.stop());

const group = (id: string) => specOf(service.pool, 'security_group', id);

async function want(id: string) {
  const { rows } = await service.pool.query(
    `select generation, settled_generation as settled, observed, due_at is not null as due from wants where id = $1`,
    [id],
  );
  return rows[0];
}

async function made(name: string): Promise<string> {
  const answer = await service.http.post(GROUPS, { security_group: { name, security_group_rules: [] } });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.id;
}

const rename = async (id: string, name: string) =>
  expect((await service.http.patch(`${GROUPS}/${id}`, { name })).status).toBe(200);
const remove = async (id: string) => expect((await service.http.delete(`${GROUPS}/${id}`)).status).toBe(204);

it('a group, its changes and its removal are there with the answer', async () => {
  const id = await made('quick');
  expect(await want(id)).toEqual({ generation: 1, settled: 1, observed: {}, due: false });
  expect((await group(id)).there).toMatchObject({ name: 'quick' });
  await rename(id, 'renamed');
  expect(await want(id)).toEqual({ generation: 2, settled: 2, observed: {}, due: false });
  const { wanted, there } = await group(id);
  expect(there).toMatchObject({ name: 'renamed' });
  expect(there).toEqual(wanted);
  await remove(id);
  expect(await group(id)).toEqual(NOTHING);
});

it('the deletion of a group of another place waits for nobody there', async () => {
  const id = await made('elsewhere');
  const busy = await service.pool.connect();
  try {
    await busy.query('begin');
    await busy.query('select from wants where id = $1 for update', [id]);
    expect((await service.http.delete(`/cloud/v1/securitygroups/1/2/${id}`)).status).toBe(404);
  } finally {
    await busy.query('rollback');
    busy.release();
  }
});

it('all that a change writes is committed in one transaction', async () => {
  const id = await made('committed');
  const { rows } = await service.pool.query(
    `select xmin::text from security_groups where id = $1::uuid
     union all select xmin::text from wants where id = $1::uuid
     union all select xmin::text from simulated_objects where id = $1::uuid
     union all select xmin::text from events where subject like '%/' || $1::text
     union all select xmin::text from user_actions where resource_ids = array[$1::text]`,
    [id],
  );
  expect(rows).toHaveLength(5);
  expect(new Set(rows.map(({ xmin }) => xmin)).size).toBe(1);
});

it('a dry run leaves nothing', async () => {
  const body = { security_group: { name: 'tried', security_group_rules: [] } };
  const answer = await service.http.request('POST', GROUPS, { body, headers: DRY_RUN });
  expect(answer.status, answer.text).toBe(200);
  expect(await group(answer.body.id)).toEqual(NOTHING);
});

it('a group that is not as wanted yet is left to a worker', async () => {
  const id = await made('drifting');
  await service.pool.query('update wants set due_at = clock_timestamp() where id = $1', [id]);
  await rename(id, 'renamed too');
  expect(await want(id)).toMatchObject({ generation: 2, settled: 1, due: true });
  expect((await group(id)).there).toMatchObject({ name: 'drifting' });
  await remove(id);
  expect(await want(id)).toMatchObject({ generation: 3, settled: 1, due: true });
});

it('a group that a thing needs is changed at once, and removed when that is gone', async () => {
  const id = await made('needed');
  await service.pool.query(
    `insert into wants (kind, id, client_id, project_id, region_id, spec, uses)
     values ('port', gen_random_uuid(), 1, 1, 1, $1, array['security_group:' || $2])`,
    [{ networkId: id, addresses: {}, groups: { [id]: true } }, id],
  );
  await rename(id, 'still needed');
  expect(await want(id)).toMatchObject({ settled: 2, due: false });
  // The port lets go of it, which a worker has to see to first. Clients may write IDs in capitals.
  await remove(id.toUpperCase());
  expect(await want(id)).toMatchObject({ generation: 3, settled: 2, due: true });
  expect((await group(id)).there).toMatchObject({ name: 'still needed' });
});
