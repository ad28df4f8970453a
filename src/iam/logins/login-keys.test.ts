import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, claimsOf, newPerson } from '../../../test/support/logins.ts';
import { secretsOf } from '../../../test/support/secrets.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { systemClock } from '../../lib/time.ts';
import { createSignedTokens, type SignedTokenClaims, type SignedTokens } from '../identity/signed-tokens.ts';

let service: TestService;
let database: Database;
let tokens: SignedTokens;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true' });
  database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 2);
  tokens = createSignedTokens({ database, clock: systemClock, secrets: await secretsOf(database) });
});
afterAll(async () => {
  await database?.close();
  await service?.stop();
});

const reset = async () =>
  expect((await service.http.post('/tradewind/v1/test/reset', { scope: 'all' })).status).toBe(204);
const me = async (access: string) => bearer(service.url, { access, refresh: '' }).get('/iam/clients/me');

describe('a login whose number another one had before a reset', () => {
  it('is not reached with the tokens of that one', async () => {
    await reset();
    const before = await newPerson(service.http);
    const { access, refresh } = before.pair;
    expect((await me(access)).status).toBe(200);
    await reset();
    const after = await newPerson(service.http);
    expect(claimsOf(after.pair.access).sid).toBe(claimsOf(access).sid);

    expect((await me(access)).status).toBe(401);
    expect((await service.anonymous.post('/iam/auth/jwt/refresh', { refresh })).status).toBe(401);
    // A refresh token of somebody else is no sign of a theft.
    expect((await after.http.get('/iam/clients/me')).status).toBe(200);
  });
});

describe('tokens of the previous release, which names logins by their numbers alone', () => {
  const signed = (type: 'access' | 'refresh', claims: Omit<SignedTokenClaims, 'loginKey'>) =>
    tokens.sign(type, claims, {}, new Date(Date.now() + 3_600_000));

  it('go on while their pair is the latest, and reach no other login', async () => {
    const { pair } = await newPerson(service.http);
    const { sid: loginId, rjti: refreshId } = claimsOf(pair.access);
    const id = randomUUID();
    const text = await signed('access', { loginId, id, refreshId });
    expect(claimsOf(text)).not.toHaveProperty('login');
    expect((await me(text)).status).toBe(200);
    for (const other of [randomUUID(), undefined]) {
      expect((await me(await signed('access', { loginId, id, refreshId: other }))).status).toBe(401);
    }
  });

  it('are followed by tokens with a key when they are refreshed', async () => {
    const { pair, userId } = await newPerson(service.http);
    await service.pool.query('update login_sessions set key = null where user_id = $1', [userId]);
    const { sid: loginId, jti: id } = claimsOf(pair.refresh);
    const refresh = await signed('refresh', { loginId, id });
    const next = await service.anonymous.post('/iam/auth/jwt/refresh', { refresh });
    expect(next.status, next.text).toBe(200);
    const { rows } = await service.pool.query('select key from login_sessions where user_id = $1', [userId]);
    expect(claimsOf(next.body.access)).toMatchObject({ sid: loginId, login: rows[0].key });
    expect((await me(next.body.access)).status).toBe(200);
  });
});
