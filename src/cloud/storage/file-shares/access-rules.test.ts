import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogWithQuotas } from '../../../../test/support/catalogs.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const catalog = catalogWithQuotas({ sfs_count: 3 });
let service: TestService;
let standard: string;
let vast: string;
beforeAll(async () => {
  service = await startService({ TRADEWIND_CATALOG_DIR: catalog });
  const { body } = await service.http.get('/cloud/v1/networks/1/2');
  const network_id = body.results.find((row: { external: boolean }) => !row.external).id;
  const access = [{ ip_address: '10.17.18.10', access_mode: 'ro' }];
  standard = await share(2, { network: { network_id }, access });
  vast = await share(1, { type_name: 'vast' });
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(catalog, { recursive: true });
});

/** Creates a share and returns the URL of its access rules. */
async function share(region: number, body: object): Promise<string> {
  const base = `/cloud/v1/file_shares/1/${region}`;
  const made = await service.http.post(base, { name: 'with rules', protocol: 'NFS', size: 1, ...body });
  expect(made.status, made.text).toBe(200);
  const task = await service.http.task(made.body[0]);
  return `${base}/${task.created_resources.file_shares[0]}/access_rule`;
}
const rule = (ip_address: string, access_mode = 'rw') => ({ ip_address, access_mode });
const listed = async (query = '') => (await service.http.get(`${standard}${query}`)).body;

it('shows those of the creation, adds, pages and removes', async () => {
  const [first] = (await listed()).results;
  expect(await listed()).toEqual({
    count: 1,
    results: [{ id: expect.any(String), access_to: '10.17.18.10', access_level: 'ro', state: 'active' }],
  });
  const added = await service.http.post(standard, rule('10.100.100.0/24'));
  expect(added.status, added.text).toBe(200);
  expect(added.body).toEqual({
    id: expect.any(String),
    access_to: '10.100.100.0/24',
    access_level: 'rw',
    state: 'active',
  });
  expect(await listed('?limit=1&offset=1')).toEqual({ count: 2, results: [added.body] });
  expect((await service.http.delete(`${standard}/${first.id}`)).status).toBe(204);
  expect((await service.http.delete(`${standard}/${first.id}`)).status).toBe(404);
  expect((await service.http.delete(`${standard}/no-uuid`)).status).toBe(404);
  expect((await listed()).results).toEqual([added.body]);
});

it('refuses an address twice, also when both come at once', async () => {
  const answers = await Promise.all(
    [rule('10.1.0.0/16'), rule('10.1.0.0/16', 'ro')].map((one) => service.http.post(standard, one)),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  const again = await service.http.post(standard, rule('10.1.0.0/16'));
  expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('10.1.0.0/16')]);
});

it.each([
  [rule('host'), 'ip_address'],
  [rule('10.0.0.0/33'), 'ip_address'],
  [rule('10.0.0.7/24'), 'ip_address'],
  [rule('10.0.0.1', 'rwx'), 'access_mode'],
  [{ access_mode: 'rw' }, 'ip_address'],
])('refuses %j', async (body, field) => {
  const refused = await service.http.post(standard, body);
  expect([refused.status, Object.keys(refused.body.invalid_fields)]).toEqual([400, [field]]);
});

it('takes at most 100', async () => {
  const { count } = await listed();
  for (let n = count; n < 100; n++) await service.http.post(standard, rule(`10.2.0.${n}`));
  const refused = await service.http.post(standard, rule('10.3.0.0'));
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('100')]);
  expect((await listed()).count).toBe(100);
});

it('is nothing that a VAST share has', async () => {
  expect((await service.http.get(vast)).body).toEqual({ count: 0, results: [] });
  const refused = await service.http.post(vast, rule('10.0.0.1'));
  expect([refused.status, Object.keys(refused.body.invalid_fields)]).toEqual([400, ['file_share_id']]);
});

it('waits for the task that holds the share', async () => {
  const id = standard.split('/').at(-2);
  const taskId = randomUUID();
  await service.pool.query(`update file_shares set status = 'extending', task_id = $1 where id = $2`, [taskId, id]);
  const [{ id: ruleId }] = (await listed()).results;
  for (const answer of [
    await service.http.post(standard, rule('10.4.0.1')),
    await service.http.delete(`${standard}/${ruleId}`),
  ]) {
    expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining(taskId)]);
  }
  await service.pool.query(`update file_shares set status = 'available', task_id = null where id = $1`, [id]);
});

it('is for nobody else', async () => {
  const other = await service.otherTenant();
  const user = await service.withRole('Users');
  const [{ id }] = (await listed()).results;
  const calls: [method: string, path: string, body?: object][] = [
    ['GET', standard],
    ['POST', standard, rule('10.5.0.1')],
    ['DELETE', `${standard}/${id}`],
  ];
  for (const [method, path, body] of calls) {
    expect((await service.anonymous.request(method, path, { body })).status).toBe(401);
    expect((await other.http.request(method, path, { body })).status).toBe(404);
    const unknown = path.replace(/[0-9a-f-]{36}/, randomUUID());
    expect((await service.http.request(method, unknown, { body })).status).toBe(404);
    if (method !== 'GET') expect((await user.request(method, path, { body })).status).toBe(403);
  }
});

describe('check_limits', () => {
  const url = '/cloud/v1/file_shares/1/1/check_limits';

  it('names the quota that one more would exceed, and takes nothing', async () => {
    expect((await service.http.post(url, { size: 5 })).body).toEqual({});
    await service.pool.query("update quota_usage set used = 3 where attribute = 'sfs_count' and region_id = 1");
    const full = await service.http.post(url, { size: 5 });
    expect([full.status, full.body]).toEqual([200, { sfs_count_limit: 3, sfs_count_requested: 1, sfs_count_usage: 3 }]);
  });

  it('wants a size', async () => {
    for (const body of [{}, { size: 0 }, { size: '5' }]) {
      const refused = await service.http.post(url, body);
      expect([refused.status, Object.keys(refused.body.invalid_fields)]).toEqual([400, ['size']]);
    }
    expect((await service.anonymous.post(url, { size: 5 })).status).toBe(401);
  });
});

it('brings the rules of shares along that were made before rules were kept apart', async () => {
  const { up } = await import('../../../../migrations/0025_file_share_access_rules.ts');
  const { openDatabase } = await import('../../../db/database.ts');
  const { rows } = await service.pool.query('select id from file_shares where region_id = 2');
  await service.pool.query('drop table file_share_access_rules');
  await service.pool.query('update file_shares set access = $1 where id = $2', [
    JSON.stringify([rule('10.9.0.0/24'), rule('10.9.1.1', 'ro')]),
    rows[0].id,
  ]);
  const database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 1);
  await up(database.sql as never);
  await database.close();
  const rules = (await listed()).results.map((one: { access_to: string }) => one.access_to).sort();
  expect(rules).toEqual(['10.9.0.0/24', '10.9.1.1']);
});
