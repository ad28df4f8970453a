import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../../../test/support/http-client.ts';
import { startService, type Tenant, type TestService } from '../../../test/support/service.ts';
import type { AuditRecord } from './schema.ts';

const PATH = '/tradewind/v1/audit';

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startService();
  tenant = await service.otherTenant();
});
afterAll(() => service.stop());

const list = async (query = '', http = tenant.http): Promise<AuditRecord[]> => {
  const answer = await http.get(`${PATH}?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.records;
};
const makeGroup = (name: string, http = tenant.http) =>
  http.post(`/cloud/v1/securitygroups/${tenant.projectId}/1`, { security_group: { name } });

async function makeToken(name: string, exp_date: string | null = null) {
  const made = await service.http.post(`/iam/v2/clients/${tenant.clientId}/tokens`, {
    name,
    exp_date,
    client_user: { role: { name: 'Users' } },
  });
  expect(made.status, made.text).toBe(200);
  return { id: made.body.id as number, http: createHttpClient(service.url, made.body.token) };
}

describe('a record', () => {
  it('says who did what, from where and with which token', async () => {
    const made = await makeGroup('audited');
    const [record] = await list(`subject=security_group/${made.body.id}`);
    expect(record).toEqual({
      id: expect.any(Number),
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      client_id: tenant.clientId,
      actor: {
        kind: 'user',
        user_id: expect.any(Number),
        email: expect.stringContaining('@'),
        token: { id: Number(tenant.http.token?.split(/[_$]/)[0]), name: 'test' },
      },
      source: { address: '127.0.0.1', user_agent: expect.any(String) },
      operation: 'createSecurityGroup',
      method: 'POST',
      path: `/cloud/v1/securitygroups/${tenant.projectId}/1`,
      type: 'tradewind.security_group.created',
      subject: `security_group/${made.body.id}`,
      resources: [{ id: made.body.id, name: 'audited' }],
      project_id: tenant.projectId,
      region_id: 1,
      task_id: null,
      request_id: made.headers.get('x-request-id'),
      outcome: 'accepted',
      status: 200,
      reason: null,
      attempts: 1,
      sealed: expect.any(Boolean),
    });
  });

  it('names no token of others to the account that it concerns', async () => {
    const { body } = await makeGroup('by the platform', service.http);
    const subject = `subject=security_group/${body.id}`;
    const id = Number(service.http.token?.split(/[_$]/)[0]);
    const [own] = await list(subject);
    expect(own?.actor).toMatchObject({ kind: 'user', email: null, token: { id, name: null } });
    const [all] = await list(subject, service.http);
    expect(all?.actor.token).toEqual({ id, name: expect.any(String) });
  });

  it('says what was refused, and what that was about', async () => {
    const subject = 'security_group/7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90';
    await tenant.http.delete(`/cloud/v1/securitygroups/${tenant.projectId}/1/7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90`);
    await expect
      .poll(() => list(`subject=${subject}`))
      .toMatchObject([{ outcome: 'refused', status: 404, type: 'tradewind.security_group.deleted' }]);
  });

  it('never has a secret', async () => {
    const token = await makeToken('secretive');
    await tenant.http.post(`/cloud/v1/ssh_keys/${tenant.projectId}`, { name: 'audited-pair' });
    const { text } = await tenant.http.get(PATH);
    expect(text).toContain('tradewind.ssh_key.created');
    expect(text).not.toContain(token.http.token?.split(/[_$]/)[1]);
  });
});

describe('refused', () => {
  it('credentials of a known token are in the log of its account', async () => {
    const gone = await makeToken('gone');
    const old = await makeToken('old', '2099-01-01T00:00:00Z');
    await service.pool.query(`update api_tokens set expires_at = '2020-01-01' where id = $1`, [old.id]);
    await service.http.delete(`/iam/v2/clients/${tenant.clientId}/tokens/${gone.id}`);
    for (const { http } of [gone, gone, old]) {
      expect((await http.get('/cloud/v1/projects')).status).toBe(401);
    }
    const noted = () => list(`token_id=${gone.id}&token_id=${old.id}&outcome=refused`);
    await expect.poll(noted).toMatchObject([
      { reason: 'expired', attempts: 1, actor: { token: { id: old.id, name: 'old' } }, status: 401 },
      {
        reason: 'deleted',
        attempts: 2,
        actor: { kind: 'user', token: { id: gone.id, name: 'gone' } },
        operation: 'listProjects',
        source: { address: '127.0.0.1' },
      },
    ]);
  });

  it('rights are there as well, of reads and of changes', async () => {
    const { id, http } = await makeToken('reader');
    expect((await http.get(PATH)).status).toBe(403);
    expect((await makeGroup('not allowed', http)).status).toBe(403);
    const noted = async () =>
      (await list(`token_id=${id}`)).map(({ operation, status }) => `${operation} ${status}`).sort();
    await expect.poll(noted).toEqual(['createSecurityGroup 403', 'listAuditRecords 403']);
  });

  it('credentials that nobody knows are counted, for the platform administrator alone', async () => {
    const unknown = createHttpClient(service.url, '999999_0123456789abcdef0123456789abcdef');
    const wrong = createHttpClient(service.url, `${tenant.http.token?.split(/[_$]/)[0]}_wrongwrongwrongwrong`);
    for (const http of [unknown, unknown, wrong]) expect((await http.get('/cloud/v1/projects')).status).toBe(401);
    const noted = async () => (await list('client_id=0', service.http))[0];
    await expect.poll(noted).toMatchObject({
      client_id: null,
      actor: { kind: 'unknown', user_id: null, token: null },
      source: { address: '127.0.0.1', user_agent: null },
      operation: null,
      reason: 'unknown',
      attempts: 3,
    });
    expect((await list('outcome=refused')).filter(({ reason }) => reason === 'unknown')).toEqual([]);
  });
});

describe('the list', () => {
  it('is filtered', async () => {
    const started = new Date().toISOString();
    const token = await makeToken('filters');
    const { body: group } = await makeGroup('filtered');
    const ids = async (query: string, http?: HttpClient) =>
      (await list(`${query}&from=${started}`, http)).map(({ subject }) => subject);
    const own = `security_group/${group.id}`;
    const [me] = await list(`subject=${own}`);
    expect(await ids(`type=tradewind.security_group.*`)).toEqual([own]);
    expect(await ids(`type=tradewind.security_group.created&type=tradewind.volume.created`)).toEqual([own]);
    expect(await ids('type=tradewind.security_group.deleted')).toEqual([]);
    expect(await ids(`type=tradewind.*`)).toEqual([own, `token/${token.id}`]);
    expect(await ids(`user_id=${me?.actor.user_id}`)).toEqual([own]);
    expect(await ids(`user_id=${me?.actor.user_id}`, service.http)).toEqual([own]);
    expect(await ids(`token_id=${me?.actor.token?.id}`)).toEqual([own]);
    expect(await ids(`project_id=${tenant.projectId}`)).toEqual([own]);
    expect(await ids(`project_id=${tenant.projectId}`, service.http)).toEqual([own]);
    expect(await ids('project_id=99999')).toEqual([]);
    expect(await ids('address=127.0.0.1')).toContain(own);
    expect(await ids('address=192.0.2.1')).toEqual([]);
    expect(await ids('outcome=accepted')).toContain(own);
    expect(await ids('outcome=failed')).toEqual([]);
    expect(await list(`to=2020-01-01T00:00:00Z`)).toEqual([]);
    expect(await list(`subject=${own}&to=2099-01-01T00:00:00Z`)).toHaveLength(1);
  });

  it('comes in pages, and is exported as lines', async () => {
    for (const name of ['one', 'two', 'three']) await makeGroup(`page ${name}`);
    const query = 'type=tradewind.security_group.created';
    const all = await list(query);
    const seen: AuditRecord[] = [];
    for (let token = ''; ; ) {
      const { body } = await tenant.http.get(`${PATH}?${query}&limit=2${token}`);
      seen.push(...body.records);
      if (body.next_page_token === null) break;
      token = `&page_token=${body.next_page_token}`;
    }
    expect(seen.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    const lines = await tenant.http.request('GET', `${PATH}?${query}`, {
      headers: { accept: 'application/x-ndjson' },
    });
    expect(lines.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    const exported: AuditRecord[] = lines.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(exported.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  });

  it('is for the administrators of an account, and for nobody else', async () => {
    const other = await service.otherTenant();
    expect((await service.anonymous.get(PATH)).status).toBe(401);
    expect((await (await service.withRole('Engineers')).get(PATH)).status).toBe(403);
    expect((await other.http.get(`${PATH}?client_id=${tenant.clientId}`)).status).toBe(403);
    expect((await other.http.get(`${PATH}?client_id=${other.clientId}`)).status).toBe(200);
    const foreign = await list(`project_id=${tenant.projectId}`, other.http);
    expect(foreign).toEqual([]);
    expect((await list('', other.http)).every(({ client_id }) => client_id === other.clientId)).toBe(true);
    expect((await list(`client_id=${tenant.clientId}`, service.http)).length).toBeGreaterThan(0);
  });

  it.each([
    ['type=cluster', 'type'],
    ['page_token=bm90aGluZw', 'page_token'],
    ['from=yesterday', 'from'],
    ['to=2026-02-31T00:00:00Z', 'to'],
    ['outcome=good', 'outcome'],
    ['limit=0', 'limit'],
  ])('refuses %s', async (query, field) => {
    const { status, body } = await tenant.http.get(`${PATH}?${query}`);
    expect([status, body.errors[0].field]).toEqual([400, expect.stringContaining(field)]);
  });
});
