import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient } from '../../../test/support/http-client.ts';
import {
  anyEmail,
  bearer,
  comes,
  invite,
  joins,
  logIn,
  newPerson,
  PASSWORD,
  type Person,
} from '../../../test/support/logins.ts';
import { addReseller } from '../../../test/support/reseller.ts';
import { startService, type TestService } from '../../../test/support/service.ts';

let service: TestService;
/** The administrator of an account. */
let boss: Person;
beforeAll(async () => {
  service = await startService({ TRADEWIND_LOG_LEVEL: 'error' });
  boss = await newPerson(service.http, { name: 'Boss', phone: '+12025550123', lang: 'de' });
});
afterAll(() => service?.stop());

/** Returns a user of an account who is logged in there. */
async function colleague(host: Person, role: object) {
  const person = await newPerson(service.http);
  await joins(host, person, role);
  const entered = await person.http.get(`/iam/auth/jwt/clients/${host.clientId}/login`);
  expect(entered.status, entered.text).toBe(200);
  return { ...person, there: bearer(service.url, entered.body) };
}

const member = ({ clientId }: Person, userId: number) => `/iam/clients/${clientId}/client-users/${userId}`;

describe('users', () => {
  it('are listed in pages with relative addresses, those of the own account alone', async () => {
    const host = await newPerson(service.http, { name: 'Host' });
    const guests = [(await invite(host, anyEmail())).user_id, await comes(host, anyEmail(), { name: 'Users' })];
    const { body } = await host.http.get('/iam/users?limit=2');
    expect(body).toMatchObject({ count: 3, next: '/iam/users?offset=2&limit=2', previous: null });
    expect(body.results[0]).toEqual({
      id: host.userId,
      email: host.email,
      name: 'Host',
      phone: null,
      company: `Company of ${host.email}`,
      lang: 'en',
      reseller: 1,
      client: host.clientId,
      groups: [{ id: 1, name: 'Administrators' }],
      user_type: 'common',
      auth_types: ['password'],
      deleted: false,
      activated: true,
      sso_auth: false,
      two_fa: false,
      is_active: true,
      client_and_roles: [
        {
          client_id: host.clientId,
          client_company_name: `Company of ${host.email}`,
          user_roles: ['Administrators'],
          user_id: host.userId,
        },
      ],
    });
    const all = await host.http.get('/iam/users');
    expect(all.body.results.map(({ id }: { id: number }) => id)).toEqual([host.userId, ...guests]);
    expect(all.body.results[1]).toMatchObject({ activated: false, groups: [{ id: 5 }] });
    expect(all.body.results[2]).toMatchObject({ activated: true, groups: [{ id: 2 }] });
    expect((await host.http.get('/iam/users?offset=9')).body).toMatchObject({ count: 3, results: [] });
    const { body: one } = await host.http.get(`/iam/users/${guests[0]}`);
    expect(one).toMatchObject({ id: guests[0], name: 'Guest' });
    expect(one).not.toHaveProperty('client_and_roles');
  });

  it('of other accounts are not found, and their accounts not told', async () => {
    const guest = await colleague(boss, { id: 2 });
    const stranger = await newPerson(service.http);
    expect((await stranger.http.get(`/iam/users/${boss.userId}`)).status).toBe(404);
    expect((await stranger.http.patch(`/iam/users/${boss.userId}`, { name: 'X' })).status).toBe(404);
    const { body } = await boss.http.get('/iam/users');
    const seen = body.results.find(({ id }: { id: number }) => id === guest.userId);
    expect(seen.client_and_roles.map((each: { client_id: number }) => each.client_id)).toEqual([boss.clientId]);
    expect(seen).toMatchObject({ client: boss.clientId, company: `Company of ${boss.email}` });
  });

  it('change their own data, and read-only fields are not looked at', async () => {
    const user = await newPerson(service.http);
    const path = `/iam/users/${user.userId}`;
    const { body: before } = await user.http.get(path);
    const changed = await user.http.patch(path, { ...before, name: 'New', phone: null, lang: 'ru', id: 7 });
    expect(changed.status, changed.text).toBe(200);
    expect(changed.body).toMatchObject({ id: user.userId, name: 'New', lang: 'ru', email: user.email });
    expect((await user.http.patch(path, {})).body).toEqual(changed.body);
    expect((await user.http.patch(path, { name: null })).body.name).toBeNull();
    for (const [body, field] of [
      [{ lang: 'fr' }, 'lang'],
      [{ auth_types: ['kerberos'] }, 'auth_types.0'],
      [{ auth_types: ['sso', 'sso'] }, 'auth_types'],
      [{ email: 'x' }, 'email'],
      [{ email: anyEmail() }, 'email'],
      [{ is_active: false }, 'is_active'],
      [{ nickname: 'x' }, 'nickname'],
    ] as const) {
      const answer = await user.http.patch(path, body);
      expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [field]]);
    }
  });

  it('keep the ways to log in that a client names, and log in with passwords all the same', async () => {
    const user = await newPerson(service.http);
    const auth_types = ['password', 'sso', 'github', 'google-oauth2'];
    const path = `/iam/users/${user.userId}`;
    expect((await user.http.patch(path, { auth_types })).body).toMatchObject({ auth_types, sso_auth: false });
    expect((await user.http.get(path)).body.auth_types).toEqual(auth_types);
    expect((await user.http.patch(path, { auth_types: ['sso'] })).body.auth_types).toEqual(['sso']);
    await logIn(service.anonymous, user.email);
  });

  it('are changed by the administrators of their only account, and by nobody else once they join another', async () => {
    const email = anyEmail();
    const own = await comes(boss, email, { id: 2 });
    const path = `/iam/users/${own}`;
    expect((await boss.http.patch(path, { name: 'Renamed', lang: 'zh' })).body).toMatchObject({
      name: 'Renamed',
      lang: 'zh',
    });
    const guest = await colleague(boss, { id: 2 });
    expect((await guest.there.patch(path, { name: 'X' })).status).toBe(403);
    expect((await boss.http.patch(`/iam/users/${guest.userId}`, { name: 'X' })).status).toBe(403);
    const other = await newPerson(service.http);
    const { invitation_token: token } = await invite(other, email);
    await service.anonymous.post('/iam/auth/accept_invitation', { token, password: PASSWORD });
    const answer = await boss.http.patch(path, { name: 'Mine' });
    expect([answer.status, answer.body.message]).toEqual([403, expect.stringMatching(/other accounts/)]);
    expect((await service.http.patch(path, { name: 'By the platform' })).body.name).toBe('By the platform');
  });

  it('change their address with their password', async () => {
    const user = await newPerson(service.http);
    const path = `/iam/users/${user.userId}/email`;
    const new_email = anyEmail();
    const wrong = await user.http.put(path, { new_email, password: 'wrong' });
    expect([wrong.status, wrong.body]).toEqual([400, { errors: { password: ['Wrong password.'] } }]);
    const taken = await user.http.put(path, { new_email: boss.email, password: PASSWORD });
    expect([taken.status, Object.keys(taken.body.errors)]).toEqual([400, ['new_email']]);
    expect((await boss.http.put(path, { new_email, password: PASSWORD })).status).toBe(403);
    const changed = await user.http.put(path, { new_email, password: PASSWORD });
    expect([changed.status, changed.body]).toEqual([200, { new_email }]);
    await logIn(service.anonymous, new_email);
    const answer = await user.http.patch(`/iam/users/${user.userId}`, { email: anyEmail() });
    expect([answer.status, answer.body.errors.email[0]]).toEqual([400, expect.stringContaining('PUT')]);
    // The platform may, and nobody can discover existing addresses by asking repeatedly.
    const moved = anyEmail();
    expect((await service.http.patch(`/iam/users/${user.userId}`, { email: moved })).body.email).toBe(moved);
    const asked = { new_email: boss.email, password: PASSWORD };
    const statuses = [];
    for (let n = 0; n < 21; n++) statuses.push((await user.http.put(path, asked)).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([400, 429]);
  });

  it('who are blocked are out at once, and come back', async () => {
    const user = await newPerson(service.http);
    const tokens = `/iam/v2/clients/${user.clientId}/tokens`;
    const body = { name: 'x', exp_date: null, client_user: { role: { id: 2 } } };
    const token = (await user.http.post(tokens, body)).body.token;
    const get = (authorization: string) =>
      service.anonymous.request('GET', '/iam/clients/me', { headers: { authorization } });
    const both = async () => [(await get(`apikey ${token}`)).status, (await get(`Bearer ${user.pair.access}`)).status];
    expect(await both()).toEqual([200, 200]);
    const path = `/iam/users/${user.userId}`;
    const last = await service.http.patch(path, { is_active: false });
    expect([last.status, last.body.message]).toEqual([409, expect.stringMatching(/only administrator/)]);
    await comes(user, anyEmail(), { id: 1 });
    expect((await service.http.patch(path, { is_active: false })).body.is_active).toBe(false);
    expect(await both()).toEqual([401, 401]);
    const again = await service.anonymous.post('/iam/auth/jwt/login', {
      username: user.email,
      password: PASSWORD,
    });
    expect(again.status).toBe(400);
    await service.http.patch(path, { is_active: true });
    expect(await both()).toEqual([200, 401]);
  });
});

describe('a user with an account', () => {
  it('is made by a reseller and ready for use', async () => {
    const reseller = await addReseller(service, 'Maker');
    const person = await newPerson(reseller.http, {
      user_type: 'common',
      services: [
        { product_name: 'CLOUD', available: true },
        { product_name: 'CDN', available: null },
        { available: true },
      ],
      seller: null,
      custom_id: 'A-1',
      country_code: 'DE',
      is_test: true,
    });
    expect((await person.http.get('/cloud/v1/projects')).body.count).toBe(1);
    const { body } = await reseller.http.get(`/iam/clients/${person.clientId}`);
    expect(body).toMatchObject({
      custom_id: 'A-1',
      country_code: 'DE',
      is_test: true,
      owner: person.userId,
      resellers: reseller.resellerId,
    });
  });

  it.each([
    [{ email: 'nobody' }, 'email'],
    [{ email: 'ADMIN@localhost.invalid ' }, 'email'],
    [{ password: 'short' }, 'password'],
    [{ company: ' ' }, 'company'],
    [{ user_type: 'seller' }, 'user_type'],
    [{ services: [{ product_name: 'CDN', available: true }] }, 'services.0.available'],
    [{ seller: 999_999 }, 'seller'],
    [{ country_code: 'de' }, 'country_code'],
  ])('is refused for %j', async (wrong, field) => {
    const body = { email: anyEmail(), password: PASSWORD, company: 'x', ...wrong };
    const answer = await service.http.post('/iam/users', body);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [field]]);
  });

  it('has an address of their own, also of many at once', async () => {
    const body = { email: anyEmail(), password: PASSWORD, company: 'x' };
    const answers = await Promise.all([1, 2, 3].map(() => service.http.post('/iam/users', body)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 400, 400]);
    const { rows } = await service.pool.query('select count(*)::int from clients where email = $1', [body.email]);
    expect(rows).toEqual([{ count: 1 }]);
    expect((await boss.http.post('/iam/users', body)).status).toBe(403);
  });
});

describe('a place in an account', () => {
  it("is given by the account's administrators and its reseller alone", async () => {
    const engineer = await colleague(boss, { id: 5 });
    const stranger = await newPerson(service.http);
    const rival = await addReseller(service, 'Rival');
    for (const http of [engineer.there, stranger.http, rival.http]) {
      expect((await http.put(member(boss, boss.userId), { user_role: { id: 2 } })).status).toBe(403);
      expect((await http.delete(member(boss, boss.userId))).status).toBe(403);
    }
    expect((await stranger.http.get(member(boss, boss.userId))).status).toBe(403);
    expect((await boss.http.get(member(boss, stranger.userId))).status).toBe(404);
  });

  it('changes its role, and logins and API tokens follow at once', async () => {
    const user = await colleague(boss, { id: 1 });
    const tokens = `/iam/v2/clients/${boss.clientId}/tokens`;
    const body = { name: 'x', exp_date: null, client_user: { role: { id: 1 } } };
    const { body: token } = await user.there.post(tokens, body);
    const project = (authorization: string, name: string) =>
      service.anonymous.request('POST', '/cloud/v1/projects', { headers: { authorization }, body: { name } });
    expect((await project(`apikey ${token.token}`, 'before')).status).toBe(201);
    const path = member(boss, user.userId);
    expect((await boss.http.put(path, { user_role: { name: 'Users' } })).status).toBe(204);
    expect((await user.there.post('/cloud/v1/projects', { name: 'login' })).status).toBe(403);
    expect((await project(`apikey ${token.token}`, 'token')).status).toBe(403);
    expect((await boss.http.get(path)).body.user_role).toEqual({ id: 2, name: 'Users' });
    for (const nothing of [{}, { user_role: {} }]) {
      expect((await boss.http.put(path, nothing)).status).toBe(204);
      expect((await boss.http.get(path)).body.user_role.id).toBe(2);
    }
    for (const wrong of [{ id: 9 }, { id: 5, name: 'Users' }]) {
      const answer = await boss.http.put(path, { user_role: wrong });
      expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, ['user_role']]);
    }
    const removal = await boss.http.delete(path);
    expect([removal.status, removal.body]).toEqual([403, { message: expect.stringMatching(/active API token/) }]);
    expect((await boss.http.delete(`${tokens}/${token.id}`)).status).toBe(204);
    expect((await boss.http.delete(path)).status).toBe(200);
    expect((await user.there.get('/iam/clients/me')).status).toBe(401);
    // At home nothing has changed.
    expect((await user.http.get('/iam/clients/me')).status).toBe(200);
    expect((await boss.http.delete(path)).status).toBe(404);
  });

  it('of the last administrator stays, also when two remove each other at once', async () => {
    const one = await newPerson(service.http);
    const alone = await one.http.put(member(one, one.userId), { user_role: { id: 2 } });
    expect([alone.status, alone.body.message]).toEqual([409, expect.stringMatching(/only administrator/)]);
    expect((await one.http.delete(member(one, one.userId))).status).toBe(409);
    const two = await colleague(one, { id: 1 });
    const answers = await Promise.all([
      service.http.put(member(one, two.userId), { user_role: { id: 2 } }),
      service.http.put(member(one, one.userId), { user_role: { id: 2 } }),
    ]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 409]);
  });

  it('was the last one of a user: who is deleted then, and their address free', async () => {
    const email = anyEmail();
    const userId = await comes(boss, email, { id: 2 });
    expect((await boss.http.delete(member(boss, userId))).body).toEqual({});
    expect((await service.http.get(`/iam/users/${userId}`)).status).toBe(404);
    expect(await comes(boss, email, { id: 2 })).not.toBe(userId);
  });

  it('is the home of a user for as long as they have it, also when two accounts remove them at once', async () => {
    const hosts = [await newPerson(service.http), await newPerson(service.http), await newPerson(service.http)];
    const [home, second, last] = hosts as [Person, Person, Person];
    const email = anyEmail();
    const userId = await comes(home, email);
    const pair = await logIn(service.anonymous, email);
    const http = bearer(service.url, pair);
    const user: Person = { userId, clientId: home.clientId, email, password: PASSWORD, pair, http };
    for (const host of [second, last]) await joins(host, user);
    const holder = await service.pool.connect();
    await holder.query('begin');
    await holder.query('select from users where id = $1 for update', [userId]);
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const removals = [];
    for (const host of [home, second]) {
      removals.push(host.http.delete(member(host, userId)));
      await expect.poll(async () => (await holder.query(waiting)).rowCount).toBe(removals.length);
    }
    await holder.query('rollback');
    holder.release();
    expect((await Promise.all(removals)).map(({ status }) => status)).toEqual([200, 200]);
    const { rows } = await service.pool.query('select client_id from users where id = $1', [userId]);
    expect(rows).toEqual([{ client_id: last.clientId }]);
  });

  it('is left by whoever has it, unless somebody acts in their name', async () => {
    const user = await colleague(boss, { id: 2 });
    const path = member(boss, user.userId);
    const tokens = `/iam/v2/clients/${boss.clientId}/tokens`;
    const body = { name: 'x', exp_date: null, client_user: {} };
    const { body: token } = await user.there.post(tokens, body);
    expect(token.client_user.role).toEqual({ id: 2, name: 'Users' });
    const byToken = createHttpClient(service.url, token.token);
    expect((await byToken.delete(path)).status).toBe(403);
    const renamed = await byToken.patch(`/iam/users/${user.userId}`, { name: 'X' });
    expect([renamed.status, renamed.body.message]).toEqual([403, expect.stringMatching(/log in with your password/)]);
    expect((await user.there.delete(`${tokens}/${token.id}`)).status).toBe(204);
    expect((await user.there.delete(path)).status).toBe(200);
    expect((await user.there.get('/iam/clients/me')).status).toBe(401);
    expect((await user.http.get('/iam/clients/me')).status).toBe(200);
    expect((await user.http.delete(member(user, user.userId))).status).toBe(409);
  });

  it('of the platform administrator is out of reach', async () => {
    const path = '/iam/clients/1/client-users/1';
    expect((await service.http.delete(path)).status).toBe(409);
    const second = await comes({ clientId: 1, http: service.http }, anyEmail(), { id: 1 });
    const token = await service.http.get(`/iam/auth/jwt/users/${second}/token`);
    const http = bearer(service.url, token.body);
    for (const refused of [
      await http.put(path, { user_role: { id: 2 } }),
      await http.delete(path),
      await http.patch('/iam/users/1', { email: anyEmail() }),
    ])
      expect([refused.status, refused.body.message]).toEqual([403, expect.stringMatching(/more rights than you/)]);
  });
});

describe('deleting a user', () => {
  it('is for resellers, with those of their clients', async () => {
    const reseller = await addReseller(service, 'Deleter');
    const theirs = await newPerson(reseller.http);
    const path = `/iam/users/${theirs.userId}`;
    expect((await theirs.http.delete(path)).status).toBe(403);
    expect((await reseller.http.delete(path)).status).toBe(409);
    expect((await reseller.http.delete(`/iam/users/${boss.userId}`)).status).toBe(404);
    const second = await comes(theirs, anyEmail(), { id: 1 });
    const deleted = await reseller.http.delete(path);
    expect([deleted.status, deleted.body]).toEqual([200, {}]);
    expect((await theirs.http.get('/iam/clients/me')).status).toBe(401);
    expect((await reseller.http.get(path)).status).toBe(404);
    expect((await reseller.http.delete(`/iam/users/${second}`)).status).toBe(409);
  });
});
