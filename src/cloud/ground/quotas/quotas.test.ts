import fs from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { catalogWithQuotas } from '../../../../test/support/catalogs.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const catalog = catalogWithQuotas({ firewall_count: 2 });
let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_CATALOG_DIR: catalog });
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(catalog, { recursive: true });
});

it('counts for each account and region on its own, and gives the last one to one of many', async () => {
  const other = await service.otherTenant();
  const make =
    (http = service.http, place = '1/1') =>
    (name: string) =>
      http.post(`/cloud/v1/securitygroups/${place}`, { security_group: { name } });
  const answers = await Promise.all(['one', 'two', 'three', 'four'].map((name) => make()(name)));
  expect(answers.map(({ status }) => String(status)).sort()).toEqual(['200', '200', '403', '403']);
  expect(answers.find(({ status }) => status === 403)?.body).toMatchObject({
    exception_class: 'QuotaLimitExceed',
    info: { attribute: 'firewall_count', current_usage: 2, requested_usage: 1, limit: 2 },
  });
  expect((await make(service.http, '1/2')('elsewhere')).status).toBe(200);
  expect((await make(other.http, `${other.projectId}/1`)('theirs')).status).toBe(200);

  const taken = answers.find(({ status }) => status === 200)?.body.id;
  expect((await service.http.delete(`/cloud/v1/securitygroups/1/1/${taken}`)).status).toBe(204);
  expect((await make()('again')).status).toBe(200);
});

it('is a reason to warn when the threshold is reached, not when more is used beyond it', async () => {
  const other = await service.otherTenant();
  const limited = { firewall_count_limit: 5 };
  await service.http.patch(`/cloud/v2/regional_quotas/${other.clientId}/1`, limited);
  const make = async (name: string) => {
    const made = await other.http.post(`/cloud/v1/securitygroups/${other.projectId}/1`, { security_group: { name } });
    expect(made.status, made.text).toBe(200);
    const { rows } = await service.pool.query('select used, most from quota_warnings where client_id = $1', [
      other.clientId,
    ]);
    return rows;
  };
  for (const name of ['one', 'two', 'three']) expect(await make(name)).toEqual([]);
  const [warning] = await make('four');
  expect(warning).toEqual({ used: 4, most: 5 });
  await service.pool.query(`update quota_warnings set noted_at = noted_at - interval '2 days'`);
  expect(await make('five')).toEqual([warning]);
});

it('stays inside Tradewind', async () => {
  expect((await service.http.get('/cloud/v1/regions/1')).body).not.toHaveProperty('quotas');
});
