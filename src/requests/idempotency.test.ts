import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../test/support/service.ts';
import { openDatabase } from '../db/database.ts';
import { fingerprintOf, forgetExpiredKeys } from './idempotency.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const GROUPS = '/cloud/v1/securitygroups/1/1';
const post = (path: string, body: unknown, key: string, http = service.http) =>
  http.request('POST', path, { body, headers: { 'idempotency-key': key } });
const group = (name: string) => ({ security_group: { name } });
const named = async (name: string) => (await service.http.get(`${GROUPS}?name=${name}`)).body.count;

it('gives the answer of the first request again and does nothing more', async () => {
  const key = randomUUID();
  const first = await post(GROUPS, group('made-once'), key);
  expect(first.status, first.text).toBe(200);
  expect(first.headers.get('idempotency-replayed')).toBeNull();
  const again = await post(GROUPS, group('made-once'), key);
  expect(again.status, again.text).toBe(200);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
  expect(await named('made-once')).toBe(1);
});

it('starts one task', async () => {
  const key = randomUUID();
  const body = { name: 'one-disk', size: 1, source: 'new-volume' };
  const first = await post('/cloud/v1/volumes/1/1', body, key);
  const again = await post('/cloud/v1/volumes/1/1', body, key);
  expect(again.body).toEqual(first.body);
  await service.http.task(first.body[0]);
  expect((await service.http.get('/cloud/v1/volumes/1/1?name_part=one-disk')).body.count).toBe(1);
});

it('repeats an answer without a body, and a PATCH', async () => {
  const key = randomUUID();
  const first = await post('/cloud/v1/tasks/acknowledge_all', undefined, key);
  const again = await post('/cloud/v1/tasks/acknowledge_all', undefined, key);
  expect([first.status, again.status, again.text]).toEqual([204, 204, '']);
  expect(again.headers.get('idempotency-replayed')).toBe('true');

  const patch = () =>
    service.http.request('PATCH', '/cloud/v1/projects/1', {
      body: { description: 'said once' },
      headers: { 'idempotency-key': `${key}-patch` },
    });
  expect((await patch()).headers.get('idempotency-replayed')).toBeNull();
  expect((await patch()).headers.get('idempotency-replayed')).toBe('true');
});

it.each([
  ['another body', GROUPS, group('another-body')],
  ['another path', '/gcore/cloud/v1/securitygroups/1/1', group('the-body')],
])('refuses a key that was used for %s', async (what, path, body) => {
  const key = `used-for-${what.replaceAll(' ', '-')}`;
  expect((await post(GROUPS, { security_group: { name: 'the-body' } }, key)).status).toBeLessThan(410);
  await post(GROUPS, group(`first-${randomUUID().slice(0, 8)}`), `${key}-2`);
  const first = await post(GROUPS, group('the-body-2'), `${key}-3`);
  const used = first.status === 200 ? `${key}-3` : `${key}-2`;
  const answer = await post(path, body, used);
  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({
    exception_class: 'UnprocessableError',
    request_id: expect.any(String),
  });
});

it('keeps nothing of a refused request, so that it can be mended', async () => {
  const key = randomUUID();
  expect((await post(GROUPS, group('!'), key)).status).toBe(400);
  expect((await post(GROUPS, group('mended'), key)).status).toBe(200);
});

it('makes one thing of many that come at once', async () => {
  const key = randomUUID();
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(GROUPS, group('made-by-one'), key)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
  const made = answers.filter(({ status }) => status === 200);
  expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
  expect(await named('made-by-one')).toBe(1);
  expect((await post(GROUPS, group('made-by-one'), key)).body.id).toBe(made[0]?.body.id);
});

it('says so when the process died between the work and its answer', async () => {
  const key = randomUUID();
  const first = await post(GROUPS, group('died-after'), key);
  await service.pool.query('update idempotency_keys set status = null, body = null where key = $1', [key]);
  const again = await post(GROUPS, group('died-after'), key);
  expect(again.status).toBe(409);
  expect(again.body.message).toContain(first.headers.get('x-request-id'));
  expect(await named('died-after')).toBe(1);
});

it('keeps no secret', async () => {
  const key = randomUUID();
  const body = { name: 'made pair' };
  const first = await post('/cloud/v1/ssh_keys/1', body, key);
  expect(first.body.private_key).toContain('PRIVATE KEY');
  const again = await post('/cloud/v1/ssh_keys/1', body, key);
  expect(again.status).toBe(409);
  const { rows } = await service.pool.query('select body from idempotency_keys where key = $1', [key]);
  expect(rows).toEqual([{ body: null }]);
});

it('keeps no trace of a password', () => {
  const of = (body: object) => fingerprintOf('POST', '/iam/users', body).toString('hex');
  expect(of({ email: 'a@example.com', password: 'one' })).toBe(of({ email: 'a@example.com', password: 'two' }));
  expect(of({ email: 'a@example.com' })).not.toBe(of({ email: 'b@example.com' }));
});

it("is another key for another account's user", async () => {
  const key = randomUUID();
  const other = await service.otherTenant();
  await post(GROUPS, group('mine'), key);
  const theirs = await post(`/cloud/v1/securitygroups/${other.projectId}/1`, group('theirs'), key, other.http);
  expect(theirs.status, theirs.text).toBe(200);
});

it('forgets a key after its time', async () => {
  const key = randomUUID();
  const first = await post(GROUPS, group('a-day-ago'), key);
  await service.pool.query("update idempotency_keys set expires_at = now() - interval '1 s' where key = $1", [key]);
  const later = await post(GROUPS, group('a-day-later'), key);
  expect(later.status, later.text).toBe(200);
  expect(later.body.id).not.toBe(first.body.id);
});

it('clears away however many keys are over, and no other', async () => {
  await service.pool.query(`
    insert into idempotency_keys (client_id, user_id, key, fingerprint, request_id, expires_at)
    select 7, 7, n::text, '', '', now() + case when n > 2500 then 1 else -1 end * interval '1 h'
    from generate_series(1, 2501) as n`);
  const database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 1);
  await forgetExpiredKeys(database.sql, new Date());
  await database.close();
  const { rows } = await service.pool.query('select key from idempotency_keys where client_id = 7');
  expect(rows).toEqual([{ key: '2501' }]);
});

it.each([' ', `${'k'.repeat(256)}`, 'käse'])('refuses %j as a key', async (key) => {
  const answer = await service.http.request('POST', GROUPS, {
    body: group('bad-key'),
    headers: { 'idempotency-key': key },
  });
  // fetch trims blanks, which leaves an empty header.
  expect(answer.status).toBe(400);
  expect(answer.body.invalid_fields).toHaveProperty('Idempotency-Key');
});
