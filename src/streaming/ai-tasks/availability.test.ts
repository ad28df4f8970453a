import { afterAll, beforeAll, expect, test } from 'vitest';
import { borrowService, type Tenant, type TestService } from '../../../test/support/service.ts';

const url = 'https://media.example.com/a.mp4';
const TRANSCRIPTION = { task_name: 'transcription', url };
const MODERATION = { task_name: 'content-moderation', category: 'nsfw', url };
let service: TestService;

beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const create = ({ http }: Pick<Tenant, 'http'>, body: object) => http.post('/streaming/ai/tasks', body);
const INFO = '/streaming/ai/info?type=language_support&audio_language=eng';
const missing = (name: string, id: number) => expect.stringMatching(`"${name}".*its reseller can.*"feature_id":${id}`);

async function activate(kind: 'paid' | 'free', client_id: number, feature_id: number): Promise<string> {
  const { status, body } = await service.http.post(`/iam/admin/${kind}_features`, { client_id, feature_id });
  expect(status).toBe(201);
  return `/iam/admin/${kind}_features/${body.id}`;
}

test('each kind of task is for the accounts that have its feature', async () => {
  const tenant = await service.otherTenant();
  for (const [body, error] of [
    [TRANSCRIPTION, missing('Speech transcription', 5)],
    [MODERATION, missing('Content moderation', 6)],
  ] as const) {
    const refused = await create(tenant, body);
    expect([refused.status, refused.body]).toEqual([422, { error }]);
  }
  const problem = await tenant.http.request('POST', '/streaming/ai/tasks', {
    body: TRANSCRIPTION,
    headers: { accept: 'application/problem+json' },
  });
  expect(problem.body).toMatchObject({
    status: 422,
    code: 'feature-missing',
    request_id: expect.any(String),
  });
  expect((await tenant.http.get(INFO)).status).toBe(422);
  expect((await tenant.http.get('/streaming/ai/tasks')).body.count).toBe(0);

  const paid = await activate('paid', tenant.clientId, 5);
  expect((await create(tenant, TRANSCRIPTION)).status).toBe(201);
  expect((await create(tenant, MODERATION)).status).toBe(422);
  expect((await tenant.http.get(INFO)).status).toBe(200);
  await activate('free', tenant.clientId, 6);
  expect((await create(tenant, MODERATION)).status).toBe(201);

  expect((await service.http.delete(paid)).status).toBe(204);
  expect((await create(tenant, TRANSCRIPTION)).status).toBe(422);
  const [moderation, transcription] = (await tenant.http.get('/streaming/ai/tasks')).body.results;
  expect([moderation.status, transcription.status]).toEqual(['PENDING', 'PENDING']);
});

test('the account of the platform administrator needs no feature', async () => {
  expect((await service.http.get('/iam/admin/paid_features')).body).toEqual([]);
  for (const body of [TRANSCRIPTION, MODERATION]) expect((await create(service, body)).status).toBe(201);
  expect((await service.http.get(INFO)).status).toBe(200);
});

test('a task waits for a deactivation that has begun, and is refused', async () => {
  const tenant = await service.otherTenant();
  const path = await activate('paid', tenant.clientId, 5);
  const holder = await service.pool.connect();
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const wait = (count: number) => expect.poll(async () => (await holder.query(waiting)).rowCount).toBe(count);
  await holder.query('begin');
  await holder.query('select from clients where id = $1 for no key update', [tenant.clientId]);
  const deactivated = service.http.delete(path);
  await wait(1);
  const created = create(tenant, TRANSCRIPTION);
  await wait(2).finally(() => holder.query('rollback').then(() => holder.release()));
  expect([(await deactivated).status, (await created).status]).toEqual([204, 422]);
});

test('a task that no running engine can do says what it waits for', async () => {
  const { body } = await create(service, MODERATION);
  const path = `/streaming/ai/tasks/${body.task_id}`;
  const waiting = await service.http.get(path);
  expect(waiting.body).toMatchObject({ status: 'PENDING', result: null });
  expect(waiting.body.waiting_for).toMatch(/^content-moderation, nsfw: no engine .*npx tradewind doctor/);
  await service.http.post(`${path}/cancel`);
  expect((await service.http.get(path)).body).not.toHaveProperty('waiting_for');
});
