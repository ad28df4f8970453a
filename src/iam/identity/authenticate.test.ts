import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHttpClient, SOON } from '../../../test/support/http-client.ts';
import { newPerson } from '../../../test/support/logins.ts';
import { borrowService, type TestService } from '../../../test/support/service.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { systemClock } from '../../lib/time.ts';
import { setStatusOf } from '../clients/changes.ts';
import { createTokenFor } from '../tokens/operator-token.ts';

let service: TestService;
let database: Database;
beforeAll(async () => {
  service = await borrowService();
  database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 2);
});
afterAll(async () => {
  await database?.close();
  await service?.stop();
});

const INVALID = 'Token is invalid or expired';

async function refusal(authorization: string, path = '/cloud/v1/projects') {
  const { status, body } = await service.anonymous.request('GET', path, { headers: { authorization } });
  return [status, body];
}

/** Returns the text of an API token of a new account. */
async function tokenOf(person: { clientId: number; http: TestService['http'] }): Promise<string> {
  const body = { name: 'x', exp_date: null, client_user: { role: { id: 1 } } };
  const made = await person.http.post(`/iam/v2/clients/${person.clientId}/tokens`, body);
  return made.body.token;
}

describe('who is not let in', () => {
  it.each([
    ['/cloud/v1/projects', { exception_class: 'token_not_valid', message: INVALID, request_id: expect.any(String) }],
    ['/cloud/v1/laas/1/destination_regions', { code: 401, message: INVALID }],
    ['/streaming/ai/tasks', { error: INVALID }],
    ['/iam/clients/me', { message: INVALID }],
  ])('is told at %s what to do, beside the text of the contract', async (path, body) => {
    expect(await refusal('apikey 1_wrong', path)).toEqual([
      401,
      { ...body, hint: expect.stringMatching(/No API token has this id and secret.*token create/) },
    ]);
  });

  it('is told so in problem details as well', async () => {
    const headers = { accept: 'application/problem+json' };
    const { body } = await service.anonymous.request('GET', '/cloud/v1/projects', { headers });
    expect(body).toMatchObject({ status: 401, hint: expect.stringMatching(/Authorization: apikey/) });
  });

  it('hears of a paused account with the right secret or login, and else nothing', async () => {
    const person = await newPerson(service.http);
    const token = await tokenOf(person);
    await setStatusOf({ database }, person.clientId, 'paused');
    const paused = [401, expect.objectContaining({ message: INVALID, hint: expect.stringMatching(/is suspended/) })];
    await expect.poll(() => refusal(`apikey ${token}`)).toEqual(paused);
    expect(await refusal(`Bearer ${person.pair.access}`)).toEqual(paused);
    expect(await refusal(`apikey ${token}x`)).not.toEqual(paused);
    const login = { username: person.email, password: 'correct horse battery staple' };
    const { status, body } = await service.anonymous.post('/iam/auth/jwt/login', login);
    expect([status, body]).toEqual([
      400,
      {
        errors: { errors: ['No active account found with the given credentials.'] },
        hint: expect.stringMatching(/paused/),
      },
    ]);
    await setStatusOf({ database }, person.clientId, 'active');
    await expect.poll(async () => (await refusal(`apikey ${token}`))[0]).toBe(200);
  });

  it('hears that the token has expired', async () => {
    const token = await tokenOf(await newPerson(service.http));
    await service.pool.query(`update api_tokens set expires_at = now() - interval '1 s' where id = $1`, [
      token.split('_')[0],
    ]);
    const [status, body] = await refusal(`apikey ${token}`);
    expect([status, body.hint]).toEqual([401, expect.stringMatching(/has expired; create a new one/)]);
  });

  it('hears which of the two tokens of a login goes where', async () => {
    const { pair } = await newPerson(service.http);
    expect((await refusal(`Bearer ${pair.refresh}`))[1].hint).toMatch(/refresh token: send it to/);
    const swapped = await service.anonymous.post('/iam/auth/jwt/refresh', { refresh: pair.access });
    expect([swapped.status, swapped.body.hint]).toEqual([401, expect.stringMatching(/access token/)]);
  });
});

describe('an id that was asked for before there was a token', () => {
  it('is let in as soon as there is one, made here or by another process', async () => {
    const last = Number((await tokenOf({ clientId: 1, http: service.http })).split('_')[0]);
    for (const ahead of [1, 2, 3, 4]) expect((await refusal(`apikey ${last + ahead}_x`))[0]).toBe(401);
    const here = await tokenOf({ clientId: 1, http: service.http });
    expect((await createHttpClient(service.url, here).get('/cloud/v1/projects')).status).toBe(200);
    const options = { role: 'Administrators', name: 'From elsewhere', expires: null };
    const there = await createTokenFor({ database, clock: systemClock }, options);
    expect([Number(here.split('_')[0]), there.id]).toEqual([last + 1, last + 2]);
    await vi.waitFor(async () => expect((await refusal(`apikey ${there.token}`))[0]).toBe(200), SOON);
  });
});
