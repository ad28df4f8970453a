import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient } from '../../../test/support/http-client.ts';
import { borrowService, type Tenant, type TestService } from '../../../test/support/service.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { InvalidError, NotFoundError } from '../../lib/errors.ts';
import { systemClock } from '../../lib/time.ts';
import { createTokenFor, type OperatorToken } from './operator-token.ts';

let service: TestService;
let tenant: Tenant;
let database: Database;

beforeAll(async () => {
  service = await borrowService();
  tenant = await service.otherTenant();
  database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 2);
});
afterAll(async () => {
  await database?.close();
  await service?.stop();
});

async function client(options: Partial<OperatorToken>) {
  const { token } = await createTokenFor(
    { database, clock: systemClock },
    { role: 'Administrators', name: 'From the command line', expires: null, ...options },
  );
  return createHttpClient(service.url, token);
}

describe("an operator's token", () => {
  it("is the platform administrator's when nothing else is asked for", async () => {
    const http = await client({});
    expect((await http.get(`/cloud/v1/projects/${tenant.projectId}`)).status).toBe(200);
    expect((await http.get('/iam/admin/feature')).status).toBe(200);
  });

  it('has the rights of one account when that is named', async () => {
    const http = await client({ clientId: tenant.clientId, role: '5' });
    expect((await http.get('/iam/clients/me')).body.id).toBe(tenant.clientId);
    expect((await http.get('/iam/admin/feature')).status).toBe(403);
    expect((await http.get('/cloud/v1/projects/1')).status).toBe(404);
  });

  it("may act for the account's reseller, and not for the platform", async () => {
    const http = await client({ clientId: tenant.clientId, resellerAccess: true });
    expect((await http.get('/iam/reselling/resellers/1/notification_settings')).status).toBe(200);
    expect((await http.get('/cloud/v1/projects/1')).status).toBe(404);
    await client({ clientId: tenant.clientId, resellerAccess: true });
    const { rows } = await service.pool.query(
      'select count(*)::int as users from users where client_id = $1 and reseller_id = 1',
      [tenant.clientId],
    );
    expect(rows[0].users).toBe(1);
  });

  it("works for the account's reseller again, after the user who acted for it was deleted", async () => {
    const { clientId } = await service.otherTenant();
    const { body } = await (await client({ clientId, resellerAccess: true })).get('/iam/clients/me');
    const tokens = `/iam/v2/clients/${clientId}/tokens`;
    const [token] = (await service.http.get(`${tokens}?issued_by=${body.currentUser}`)).body;
    expect((await service.http.delete(`${tokens}/${token.id}`)).status).toBe(204);
    const gone = await service.http.delete(`/iam/clients/${clientId}/client-users/${body.currentUser}`);
    expect(gone.status, gone.text).toBe(200);
    const http = await client({ clientId, resellerAccess: true });
    expect((await http.get('/iam/admin/feature')).status).toBe(200);
  });

  it('is refused for an unknown role or client, a past date, or reseller access with another role', async () => {
    await expect(client({ role: 'Root' })).rejects.toThrow(InvalidError);
    await expect(client({ expires: new Date(0) })).rejects.toThrow(InvalidError);
    await expect(client({ expires: new Date(Number.NaN) })).rejects.toThrow(InvalidError);
    await expect(client({ role: 'Users', resellerAccess: true })).rejects.toThrow(InvalidError);
    await expect(client({ clientId: 999_999 })).rejects.toThrow(NotFoundError);
    await expect(client({ clientId: 999_999, resellerAccess: true })).rejects.toThrow(NotFoundError);
  });
});
