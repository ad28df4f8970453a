import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, logIn, newPerson, type Pair } from '../../test/support/logins.ts';
import { startService, type Tenant, type TestService } from '../../test/support/service.ts';

/** What docs/requests.md says that an account may have, or fill the log with. */
const KEYS = 50_000;
const KEPT_MIB = 64;
const RECORDS_A_DAY = 2_000;
const LOGINS = 100;
const ATTEMPTS = 10_000;
const OPEN_REQUESTS = 20;
const SETTINGS = 1_000;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

const count = async (what: string, values: unknown[]): Promise<number> =>
  (await service.pool.query(`select count(*)::int as count from ${what}`, values)).rows[0].count;

describe('idempotency keys of an account', () => {
  const named = (tenant: Tenant, name: string, key: string) =>
    tenant.http.request('POST', `/cloud/v1/securitygroups/${tenant.projectId}/1`, {
      body: { security_group: { name } },
      headers: { 'idempotency-key': key },
    });
  const fill = (tenant: Tenant, from: number, to: number, body: string) =>
    service.pool.query(
      `insert into idempotency_keys (client_id, user_id, key, fingerprint, request_id, status, body, expires_at)
       select $1, 0, 'kept ' || n, '', '', 200, $4, now() + interval '6 hours' from generate_series($2::int, $3) as n`,
      [tenant.clientId, from, to, body],
    );

  it.each([
    ['many', KEYS, '{}'],
    ['large', KEPT_MIB, '-'.repeat(1_048_576)],
  ])('are refused once there are too %s, and those that there are still protect', async (_, most, body) => {
    const tenant = await service.otherTenant();
    await fill(tenant, 1, most - 1, body);
    const key = randomUUID();
    const first = await named(tenant, 'last-one', key);
    expect(first.status, first.text).toBe(200);
    await fill(tenant, most, most, body);
    // A process counts anew every other second.
    await expect
      .poll(async () => (await named(tenant, `more-${randomUUID().slice(0, 8)}`, randomUUID())).status)
      .toBe(429);
    const refused = await named(tenant, 'one-more', randomUUID());
    expect(refused.status).toBe(429);
    expect(refused.body.message).toMatch(/^The account has as many Idempotency-Keys as it may have/);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(5 * 3_600);
    expect(wait).toBeLessThanOrEqual(6 * 3_600);

    const again = await named(tenant, 'last-one', key);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    const path = `/cloud/v1/securitygroups/${tenant.projectId}/1`;
    expect((await tenant.http.post(path, { security_group: { name: 'without-key' } })).status).toBe(200);
    const other = await service.otherTenant();
    expect((await named(other, 'of-another', randomUUID())).status).toBe(200);
  });
});

describe('what changed nothing', () => {
  const refuse = (tenant: Tenant) => tenant.http.post('/cloud/v1/projects', { name: '!' });

  it('is counted beyond what an account may fill the log with in a day', async () => {
    const [tenant, bystander] = [await service.otherTenant(), await service.otherTenant()];
    const beyond = 300;
    for (let sent = 0; sent < RECORDS_A_DAY + beyond; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, () => refuse(tenant)));
    }
    const late = await refuse(bystander);
    const { body } = await bystander.http.get(`/cloud/v1/request_log?request_id=${late.headers.get('x-request-id')}`);
    expect(body.results).toMatchObject([{ operation: 'createProject', status: 400 }]);

    const log = await tenant.http.get('/tradewind/v1/audit?outcome=refused&limit=1000');
    const rest = log.body.records.filter(({ operation }: { operation: string | null }) => operation === null);
    expect(rest).toMatchObject([{ actor: { user_id: null }, path: null, attempts: beyond }]);
    expect(await count('user_actions where client_id = $1 and outcome = $2', [tenant.clientId, 'refused'])).toBe(
      RECORDS_A_DAY + 1,
    );
    // Accepted changes are recorded all the same.
    const made = await tenant.http.post('/cloud/v1/projects', { name: 'accepted' });
    const accepted = await tenant.http.get(`/cloud/v1/request_log?request_id=${made.headers.get('x-request-id')}`);
    expect(accepted.body.results).toMatchObject([{ outcome: 'accepted' }]);
  });
});

describe('logins', () => {
  it('of a user end with those that were not refreshed for the longest time, and those of others stay', async () => {
    const [person, other] = [await newPerson(service.http), await newPerson(service.http)];
    const second = await logIn(service.anonymous, person.email);
    const whose = 'login_sessions where user_id = $1';
    await service.pool.query(
      `insert into login_sessions (family, user_id, client_id, maker_id, role_id, refresh_id, created_at, expires_at)
       select gen_random_uuid(), user_id, client_id, maker_id, role_id, gen_random_uuid(), created_at,
         expires_at + interval '1 minute'
       from login_sessions cross join generate_series(1, $2::int / 2) where user_id = $1`,
      [person.userId, LOGINS],
    );
    const used = (pair: Pair) => bearer(service.url, pair).get('/iam/clients/me');
    expect((await used(person.pair)).status).toBe(200);
    const newest = await logIn(service.anonymous, person.email);
    expect(await count(whose, [person.userId])).toBe(LOGINS);
    expect((await used(person.pair)).status).toBe(401);
    expect((await used(second)).status).toBe(401);
    expect((await used(newest)).status).toBe(200);
    expect((await used(other.pair)).status).toBe(200);
  });

  it('are recorded, but not without end', async () => {
    const person = await newPerson(service.http);
    await service.pool.query(
      `insert into login_attempts (user_id, username, address, successful, created_at)
       select $1, 'somebody', '192.0.2.' || n % 250, true, now() from generate_series(1, $2::int + 5) as n`,
      [person.userId, ATTEMPTS],
    );
    await logIn(service.anonymous, person.email);
    expect(await count('login_attempts where user_id = $1', [person.userId])).toBe(ATTEMPTS);
    const { rows } = await service.pool.query(
      'select username from login_attempts where user_id = $1 order by id desc limit 1',
      [person.userId],
    );
    expect(rows).toEqual([{ username: person.email }]);
  });
});

it('requests for other limits are refused while too many are open, even at once', async () => {
  const tenant = await service.otherTenant();
  const PATH = '/cloud/v2/limits_request';
  const ask = () =>
    tenant.http.post(PATH, {
      description: 'More',
      requested_limits: { regional_limits: [{ region_id: 1, vm_count_limit: 2_000 }] },
    });
  const answers = await Promise.all(Array.from({ length: OPEN_REQUESTS + 10 }, ask));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(OPEN_REQUESTS);
  const refused = answers.filter(({ status }) => status === 409);
  expect(refused).toHaveLength(10);
  expect(refused[0]?.body.message).toContain(`${OPEN_REQUESTS} limit requests`);

  const [first, second] = (await tenant.http.get(PATH)).body.results;
  expect((await tenant.http.delete(`${PATH}/${first.id}`)).status).toBe(204);
  expect((await ask()).status).toBe(201);
  expect((await ask()).status).toBe(409);
  expect((await service.http.patch(`${PATH}/${second.id}`, { status: 'rejected' })).status).toBe(200);
  expect((await ask()).status).toBe(201);
});

it('notification settings of a reseller are refused when there are too many', async () => {
  const PATH = '/iam/reselling/resellers/1/notification_settings';
  const make = () => service.http.post(PATH, { notification_type: 'failed_login', email: 'security@example.com' });
  await service.pool.query(
    `insert into notification_settings (reseller_id, notification_type, email, enabled, created_at)
     select 1, 'failed_login', 'security@example.com', false, now() from generate_series(1, $1::int - 1)`,
    [SETTINGS],
  );
  expect((await make()).status).toBe(201);
  const refused = await make();
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain(`${SETTINGS} notification settings`);
});
