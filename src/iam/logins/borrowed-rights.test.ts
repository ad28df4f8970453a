import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../../../test/support/http-client.ts';
import { bearer, comes, joins, newPerson, type Person } from '../../../test/support/logins.ts';
import { addReseller, type TestReseller } from '../../../test/support/reseller.ts';
import { borrowService, type TestService } from '../../../test/support/service.ts';

let service: TestService;
let reseller: TestReseller;
/** A client of the reseller. */
let theirs: Person;
/** A client of another reseller. */
let stranger: Person;

beforeAll(async () => {
  service = await borrowService();
  reseller = await addReseller(service, 'Borrower');
  theirs = await newPerson(reseller.http);
  stranger = await newPerson(service.http, { name: 'Jane Doe', phone: '+12025550123' });
});
afterAll(() => service?.stop());

const status = async (http: HttpClient) => (await http.get('/iam/clients/me')).status;

const enter = (http: HttpClient, clientId: number) => http.get(`/iam/auth/jwt/clients/${clientId}/login`);

async function newToken(http: HttpClient, clientId: number) {
  const body = { name: 'x', exp_date: null, client_user: { role: { id: 1 } } };
  return http.post(`/iam/v2/clients/${clientId}/tokens`, body);
}

/** Returns the reseller's login in the name of a user. */
async function acting(userId: number): Promise<HttpClient> {
  const { body } = await reseller.http.get(`/iam/auth/jwt/users/${userId}/token`);
  return bearer(service.url, body);
}

describe('rights that a reseller borrows', () => {
  it('make no token in the name of a user who only joined its client', async () => {
    const own = await newPerson(reseller.http);
    await joins(own, stranger, { id: 1 });
    const path = `/iam/clients/${own.clientId}/client-users/${own.userId}`;
    expect((await own.http.put(path, { user_role: { id: 2 } })).status).toBe(204);
    const answer = await newToken(reseller.http, own.clientId);
    expect([answer.status, answer.body.message]).toEqual([403, expect.stringMatching(/no user of its own/)]);
  });

  it('lead to no other account of a user, neither with a login nor with an API token', async () => {
    const host = await newPerson(service.http);
    await joins(host, theirs, { id: 1 });
    const { body } = await newToken(reseller.http, theirs.clientId);
    expect(body.client_user.user_id).toBe(theirs.userId);
    const token = createHttpClient(service.url, body.token);
    const derived = bearer(service.url, (await enter(token, theirs.clientId)).body);
    for (const http of [token, derived, await acting(theirs.userId)]) {
      expect((await enter(http, theirs.clientId)).status).toBe(200);
      expect((await enter(http, host.clientId)).status).toBe(403);
    }
    expect((await enter(theirs.http, host.clientId)).status).toBe(200);
  });

  it("are used before the account's eyes", async () => {
    const client = await newPerson(reseller.http);
    const { body: me } = await reseller.http.get('/iam/clients/me');
    await reseller.http.get(`/iam/auth/jwt/users/${client.userId}/token`);
    await reseller.http.get(`/iam/auth/jwt/clients/${client.clientId}/admin_token`);
    await newToken(reseller.http, client.clientId);
    await reseller.http.patch(`/iam/clients/${client.clientId}`, { is_test: true });
    const feature = { client_id: client.clientId, feature_id: 5 };
    const { body: activated } = await reseller.http.post('/iam/admin/paid_features', feature);
    await reseller.http.delete(`/iam/admin/paid_features/${activated.id}`);
    await reseller.http.patch(`/iam/users/${client.userId}`, { name: 'Jane Doe' });
    const guest = await comes(client);
    await reseller.http.delete(`/iam/users/${guest}`);
    const { body } = await client.http.get('/cloud/v1/request_log?order_by=asc');
    const seen = body.results.map(({ operation, user_id, outcome }: Record<string, unknown>) => [
      operation,
      user_id,
      outcome,
    ]);
    const operations = [
      'loginAsUser',
      'loginAsAdministrator',
      'createApiToken',
      'updateClient',
      'activatePaidFeature',
      'deactivatePaidFeature',
      'updateUser',
      'deleteUser',
    ];
    const borrowed = seen.filter(([operation]: [string]) => operation !== 'inviteUser');
    expect(borrowed).toEqual(operations.map((operation) => [operation, me.currentUser, 'accepted']));
    expect((await reseller.http.get(`/iam/auth/jwt/users/${stranger.userId}/token`)).status).toBe(404);
    await expect
      .poll(async () => (await reseller.http.get('/cloud/v1/request_log?outcome=refused')).body.results[0])
      .toMatchObject({ operation: 'loginAsUser', status: 404 });
  });

  it('end with the API token, or the user, that the first of several logins came from', async () => {
    const user = await newPerson(service.http);
    const { body: token } = await newToken(user.http, user.clientId);
    const byToken = createHttpClient(service.url, token.token);
    const first = bearer(service.url, (await enter(byToken, user.clientId)).body);
    const { body: second } = await enter(first, user.clientId);
    expect(await status(bearer(service.url, second))).toBe(200);
    const revoked = await user.http.delete(`/iam/v2/clients/${user.clientId}/tokens/${token.id}`);
    expect(revoked.status).toBe(204);
    expect(await status(bearer(service.url, second))).toBe(401);
    const again = await service.anonymous.post('/iam/auth/jwt/refresh', { refresh: second.refresh });
    expect(again.status).toBe(401);
  });

  it('end when the client goes to another reseller, with every token that came of them', async () => {
    const client = await newPerson(reseller.http);
    const { body: made } = await newToken(reseller.http, client.clientId);
    const byReseller = createHttpClient(service.url, made.token);
    const {
      body: { token: ofToken },
    } = await newToken(byReseller, client.clientId);
    const ofLoginByToken = bearer(service.url, (await enter(byReseller, client.clientId)).body);
    const {
      body: { token: ofLogin },
    } = await newToken(await acting(client.userId), client.clientId);
    const {
      body: { token: ofLogins },
    } = await newToken(ofLoginByToken, client.clientId);
    const {
      body: { token: own },
    } = await newToken(client.http, client.clientId);
    const {
      body: { token: ofPlatform },
    } = await newToken(service.http, client.clientId);
    const outside = [made.token, ofToken, ofLogin, ofLogins];
    const all = [...outside, own, ofPlatform].map((token) => createHttpClient(service.url, token));
    expect(await Promise.all(all.map(status))).toEqual(all.map(() => 200));
    await service.http.patch(`/iam/clients/${client.clientId}`, { reseller: 1 });
    expect(await Promise.all(all.map(status))).toEqual([...outside.map(() => 401), 200, 200]);
    expect(await status(ofLoginByToken)).toBe(401);
  });

  it('end when it loses its own', async () => {
    const lost = await addReseller(service, 'Loser');
    const client = await newPerson(lost.http);
    const { body: me } = await lost.http.get('/iam/clients/me');
    const actingHere = async () => {
      const { body } = await lost.http.get(`/iam/auth/jwt/users/${client.userId}/token`);
      const direct = bearer(service.url, body);
      return [direct, bearer(service.url, (await enter(direct, client.clientId)).body)];
    };
    const member = `/iam/clients/${lost.clientId}/client-users/${me.currentUser}`;
    const before = await actingHere();
    expect(await Promise.all(before.map(status))).toEqual([200, 200]);
    expect((await service.http.put(member, { user_role: { id: 2 } })).status).toBe(204);
    expect(await Promise.all(before.map(status))).toEqual([401, 401]);
    expect((await service.http.put(member, { user_role: { id: 1 } })).status).toBe(204);
    const after = await actingHere();
    const elsewhere = { reseller: reseller.resellerId };
    expect((await service.http.patch(`/iam/clients/${client.clientId}`, elsewhere)).status).toBe(200);
    expect(await Promise.all(after.map(status))).toEqual([401, 401]);
    expect(await status(client.http)).toBe(200);
  });

  it('are those of the reseller no longer when its own account goes to another one', async () => {
    const mover = await addReseller(service, 'Mover');
    const client = await newPerson(mover.http);
    expect((await mover.http.get(`/iam/clients/${client.clientId}`)).status).toBe(200);
    const moved = await service.http.patch(`/iam/clients/${mover.clientId}`, {
      reseller: reseller.resellerId,
    });
    expect(moved.status, moved.text).toBe(200);
    expect(await status(mover.http)).toBe(200);
    expect((await mover.http.get('/iam/clients')).status).toBe(403);
    expect((await mover.http.get(`/iam/clients/${client.clientId}`)).status).not.toBe(200);
  });

  it('stay behind when a user of the reseller leaves its account', async () => {
    const left = await addReseller(service, 'Leaver');
    const client = await newPerson(left.http);
    const { body: me } = await left.http.get('/iam/clients/me');
    await placedIn(client, me.currentUser);
    const { body: tokens } = await left.http.get(`/iam/v2/clients/${left.clientId}/tokens`);
    const kept = createHttpClient(service.url, await tokenAt(client, me.currentUser));
    expect(await status(kept)).toBe(200);
    for (const { id } of tokens) {
      await service.http.delete(`/iam/v2/clients/${left.clientId}/tokens/${id}`);
    }
    const removed = await service.http.delete(`/iam/clients/${left.clientId}/client-users/${me.currentUser}`);
    expect(removed.status, removed.text).toBe(200);
    expect(await status(kept)).toBe(200);
    expect((await kept.get('/iam/clients')).status).toBe(403);
  });
});

/** Users without a password can't join an account, so the membership is inserted directly. */
async function placedIn({ clientId }: Person, userId: number): Promise<void> {
  await service.pool.query(
    'insert into client_users (client_id, user_id, role_id, created_at) values ($1, $2, 1, now())',
    [clientId, userId],
  );
}

/** Returns the text of an API token of that user, who joined the account. */
async function tokenAt({ clientId }: Person, userId: number): Promise<string> {
  const { rows } = await service.pool.query(
    `insert into api_tokens (client_id, user_id, role_id, name, description, secret_hash, created_at)
     values ($1, $2, 1, 'x', '', sha256('here'), now()) returning id`,
    [clientId, userId],
  );
  return `${rows[0].id}_here`;
}

describe('an account that takes in a user whom another account made', () => {
  it('learns neither name, number nor logins of theirs', async () => {
    const host = await newPerson(service.http, { name: 'Host' });
    await joins(host, stranger, { id: 2 });
    const { body: one } = await host.http.get(`/iam/users/${stranger.userId}`);
    expect(one).toMatchObject({ email: stranger.email, name: null, phone: null });
    const { body: mine } = await host.http.get('/iam/clients/me');
    expect(mine.users.map(({ name }: { name: string | null }) => name)).toEqual([null, 'Host']);
    const { body: log } = await host.http.get('/iam/activity_log/logins');
    expect(log.result.map((each: { user_id: number }) => each.user_id)).toEqual([host.userId]);
    const { body: self } = await stranger.http.get(`/iam/users/${stranger.userId}`);
    expect(self).toMatchObject({ name: 'Jane Doe', phone: '+12025550123' });
  });

  it('can let go of one with rights elsewhere', async () => {
    const { body: me } = await reseller.http.get('/iam/clients/me');
    const host = await newPerson(service.http);
    await placedIn(host, me.currentUser);
    const path = `/iam/clients/${host.clientId}/client-users/${me.currentUser}`;
    expect((await host.http.put(path, { user_role: { id: 2 } })).status).toBe(204);
    expect((await host.http.delete(path)).status).toBe(200);
    expect((await reseller.http.get('/iam/clients')).status).toBe(200);
  });
});
