import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient } from '../../../test/support/http-client.ts';
import {
  anyEmail,
  bearer,
  claimsOf,
  invite,
  joins,
  logIn,
  newPerson,
  PASSWORD,
  type Person,
} from '../../../test/support/logins.ts';
import { addReseller } from '../../../test/support/reseller.ts';
import { borrowService, type TestService } from '../../../test/support/service.ts';

const LOGIN = '/iam/auth/jwt/login';
const REFRESH = '/iam/auth/jwt/refresh';
let service: TestService;
let person: Person;

beforeAll(async () => {
  service = await borrowService();
  person = await newPerson(service.http, { name: 'Jane Doe' });
});
afterAll(() => service?.stop());

const refresh = (token: string) => service.anonymous.post(REFRESH, { refresh: token });
const status = async ({ http }: Pick<Person, 'http'>) => (await http.get('/iam/clients/me')).status;

describe('a login', () => {
  it('answers a pair that says who and for how long', async () => {
    const { status, body, headers } = await service.anonymous.post(LOGIN, {
      username: person.email.toUpperCase(),
      password: PASSWORD,
      one_time_password: null,
    });
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const access = claimsOf(body.access);
    const next = claimsOf(body.refresh);
    expect(access).toMatchObject({
      token_type: 'access',
      user_id: person.userId,
      user_type: 'common',
      user_groups: ['Administrators'],
      client_id: person.clientId,
      email: person.email,
      username: person.email,
      client_name: `Company of ${person.email}`,
      is_admin: true,
      exchangeable: true,
      rjti: next.jti,
    });
    expect(next).toMatchObject({ token_type: 'refresh', jti: expect.any(String) });
    // It is signed after the login is written, which may be in the next second.
    expect([3600, 3599]).toContain(access.exp - access.iat);
    expect([86_400, 86_399]).toContain(next.exp - next.iat);
  });

  it('works everywhere under the word Bearer, and an API token does not', async () => {
    const { base } = service.http;
    const projects = await person.http.get('/cloud/v1/projects');
    expect([projects.status, projects.body.count]).toEqual([200, 1]);
    expect((await person.http.get('/iam/admin/feature')).status).toBe(403);
    for (const wrong of [
      createHttpClient(base, service.http.token, 'Bearer'),
      createHttpClient(base, person.pair.access, 'apikey'),
      createHttpClient(base, person.pair.refresh, 'Bearer'),
      createHttpClient(base, `${person.pair.access.slice(0, -4)}AAAA`, 'Bearer'),
      createHttpClient(base, 'a.b.c', 'Bearer'),
    ]) {
      expect((await wrong.get('/iam/clients/me')).status).toBe(401);
    }
    const lower = await service.anonymous.request('GET', '/iam/clients/me', {
      headers: { authorization: `bearer ${person.pair.access}` },
    });
    expect(lower.body.currentUser).toBe(person.userId);
  });

  it.each([
    [{ username: 'nobody@example.com', password: PASSWORD }, 'errors', /No active account found/],
    [{ password: PASSWORD }, 'username', /This field is required/],
    [{ username: 'x@example.com' }, 'password', /This field is required/],
    [{ username: 5, password: PASSWORD }, 'username', /string/],
  ])('is refused for %j', async (body, field, text) => {
    const answer = await service.anonymous.post(LOGIN, body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[field][0]).toMatch(text);
  });

  it('is refused to whoever was invited and did not come, and to all of a paused account', async () => {
    const email = anyEmail();
    await invite(person, email);
    expect((await service.anonymous.post(LOGIN, { username: email, password: PASSWORD })).status).toBe(400);
    const other = await newPerson(service.http);
    await service.pool.query(`update clients set status = 'paused' where id = $1`, [other.clientId]);
    const again = { username: other.email, password: PASSWORD };
    expect((await service.anonymous.post(LOGIN, again)).status).toBe(400);
    expect((await refresh(other.pair.refresh)).status).toBe(401);
  });

  it('stops after five wrong passwords from one address, the right one included', async () => {
    const victim = await newPerson(service.http);
    const guess = (password: string) => service.anonymous.post(LOGIN, { username: victim.email, password });
    const guesses = await Promise.all(Array.from({ length: 8 }, () => guess('wrong')));
    expect(guesses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([400, 400, 400, 400, 400, 429, 429, 429]);
    const late = await guess(PASSWORD);
    expect(late.status).toBe(429);
    expect(late.body).toEqual({ message: expect.stringMatching(/wrong too often/) });
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(600);
    expect((await logIn(service.anonymous, person.email)).access).toBeDefined();
    const { body } = await victim.http.get('/iam/activity_log/logins');
    const [newest] = body.result;
    expect(newest).toEqual({
      id: expect.any(Number),
      user_id: victim.userId,
      username: victim.email,
      successful: false,
      ip_address: '127.0.0.1',
      user_agent: expect.any(String),
      created_at: expect.stringMatching(/Z$/),
      login_at: newest.created_at,
      is_successful: false,
      auth_type: 'password',
      user: victim.userId,
    });
    expect(body).toMatchObject({ count: 6, next: null, previous: null });
  });

  it('counts wrong passwords of strangers as well', async () => {
    const body = { username: anyEmail(), password: 'wrong' };
    const answers = [];
    for (let left = 6; left > 0; left--) answers.push((await service.anonymous.post(LOGIN, body)).status);
    expect(answers).toEqual([400, 400, 400, 400, 400, 429]);
    const { body: log } = await service.http.get('/iam/activity_log/logins?limit=1');
    expect(log.result[0]).toMatchObject({ user_id: null, user: 0, username: body.username });
    expect(log.next).toBe('/iam/activity_log/logins?offset=1&limit=1');
    expect((await person.http.get('/iam/activity_log/logins')).text).not.toContain(body.username);
    expect((await (await service.withRole('Engineers')).get('/iam/activity_log/logins')).status).toBe(403);
  });
});

describe('a refresh token', () => {
  it('brings the next pair once; a second use ends the login and all that came from it', async () => {
    const first = await newPerson(service.http);
    const second = (await refresh(first.pair.refresh)).body;
    const entered = await bearer(service.url, second).get(`/iam/auth/jwt/clients/${first.clientId}/login`);
    expect(entered.status, entered.text).toBe(200);
    const all = [first.pair, second, entered.body].map((pair) => bearer(service.url, pair));
    for (const http of all) expect(await status({ http })).toBe(200);
    expect((await refresh(first.pair.refresh)).status).toBe(401);
    for (const http of all) expect(await status({ http })).toBe(401);
    for (const pair of [second, entered.body]) expect((await refresh(pair.refresh)).status).toBe(401);
  });

  it('keeps a login going past the expiry that it had before', async () => {
    const { userId, http, pair } = await newPerson(service.http);
    const expires = (when: string) =>
      service.pool.query(`update login_sessions set expires_at = now() + $1::interval where user_id = $2`, [
        when,
        userId,
      ]);
    // The process remembers the expiry that it saw last.
    await expires('-1 second');
    expect(await status({ http })).toBe(401);
    await expires('1 hour');
    const next = await refresh(pair.refresh);
    expect(await status({ http: bearer(service.url, next.body) })).toBe(200);
  });

  it('is worth one pair to many who bring it at once', async () => {
    const { pair } = await newPerson(service.http);
    const answers = await Promise.all(Array.from({ length: 6 }, () => refresh(pair.refresh)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 401, 401, 401, 401, 401]);
  });

  it('is refused when it is none', async () => {
    expect((await refresh(person.pair.access)).status).toBe(401);
    expect((await refresh('nonsense')).status).toBe(401);
    expect((await service.anonymous.post(REFRESH, {})).body.errors.refresh[0]).toMatch(/required/);
  });
});

describe('other logins', () => {
  it('a user enters another of their accounts with the role there', async () => {
    const host = await newPerson(service.http);
    await joins(host, person, { name: 'Users' });
    const { body } = await person.http.get(`/iam/auth/jwt/clients/${host.clientId}/login`);
    expect(claimsOf(body.access)).toMatchObject({
      client_id: host.clientId,
      user_groups: ['Users'],
      is_admin: false,
    });
    const guest = bearer(service.url, body);
    expect((await guest.get('/iam/clients/me')).body.id).toBe(host.clientId);
    expect((await guest.post('/cloud/v1/projects', { name: 'mine' })).status).toBe(403);
    // Back home, the login has the rights of home again.
    const home = await guest.get(`/iam/auth/jwt/clients/${person.clientId}/login`);
    expect(claimsOf(home.body.access).is_admin).toBe(true);
    const stranger = await newPerson(service.http);
    for (const clientId of [host.clientId, 999_999]) {
      const answer = await stranger.http.get(`/iam/auth/jwt/clients/${clientId}/login`);
      expect([answer.status, answer.body]).toEqual([403, { message: expect.any(String) }]);
    }
  });

  it('made by an API token have no more rights than it, and end with it', async () => {
    const base = `/iam/v2/clients/${person.clientId}/tokens`;
    const made = await person.http.post(base, {
      name: 'reader',
      exp_date: null,
      client_user: { role: { id: 2 } },
    });
    const reader = createHttpClient(service.url, made.body.token);
    const { body } = await reader.get(`/iam/auth/jwt/clients/${person.clientId}/login`);
    expect(claimsOf(body.access)).toMatchObject({ user_groups: ['Users'], is_admin: false });
    const login = bearer(service.url, body);
    expect((await login.get('/iam/activity_log/logins')).status).toBe(403);
    expect((await login.get(base)).body).toHaveLength(1);
    expect((await person.http.delete(`${base}/${made.body.id}`)).status).toBe(204);
    expect(await status({ http: login })).toBe(401);
    expect((await refresh(body.refresh)).status).toBe(401);
  });

  it('a reseller acts as the administrator and the users of its clients, and of no others', async () => {
    const reseller = await addReseller(service, 'Acting');
    const theirs = await newPerson(reseller.http);
    const admin = await reseller.http.get(`/iam/auth/jwt/clients/${theirs.clientId}/admin_token`);
    expect(claimsOf(admin.body.access)).toMatchObject({
      user_id: theirs.userId,
      client_id: theirs.clientId,
    });
    const user = await reseller.http.get(`/iam/auth/jwt/users/${theirs.userId}/token`);
    expect(claimsOf(user.body.access).user_id).toBe(theirs.userId);
    for (const path of [
      `clients/${person.clientId}/admin_token`,
      `users/${person.userId}/token`,
      'clients/1/admin_token',
      'users/1/token',
      'users/999999/token',
    ]) {
      expect((await reseller.http.get(`/iam/auth/jwt/${path}`)).status).toBe(404);
    }
    const self = await theirs.http.get(`/iam/auth/jwt/users/${theirs.userId}/token`);
    expect(self.status).toBe(403);
  });

  it('a reseller does not act as a user who only joined one of its clients', async () => {
    const reseller = await addReseller(service, 'Joined');
    const theirs = await newPerson(reseller.http);
    await joins(theirs, person, { id: 1 });
    const { status: answer } = await reseller.http.get(`/iam/auth/jwt/users/${person.userId}/token`);
    expect(answer).toBe(404);
  });
});

describe('a password', () => {
  it('is changed by its user, which ends all other logins', async () => {
    const user = await newPerson(service.http);
    const path = `/iam/users/${user.userId}/password`;
    const wanted = { old: PASSWORD, new: 'many small green apples', double: 'many small green apples' };
    for (const [body, field] of [
      [{ ...wanted, old: 'wrong' }, 'old'],
      [{ ...wanted, double: 'another' }, 'double'],
      [{ ...wanted, new: 'short', double: 'short' }, 'new'],
      [{ old: PASSWORD, new: PASSWORD, double: PASSWORD }, 'new'],
      [{}, 'old'],
    ] as const) {
      const answer = await user.http.put(path, body);
      expect([answer.status, Object.keys(answer.body.errors)[0]]).toEqual([400, field]);
    }
    const other = bearer(service.url, await logIn(service.anonymous, user.email));
    const changed = await user.http.put(path, wanted);
    expect(changed.status, changed.text).toBe(200);
    expect(await status({ http: bearer(service.url, changed.body) })).toBe(200);
    expect([await status(user), await status({ http: other })]).toEqual([401, 401]);
    expect((await refresh(user.pair.refresh)).status).toBe(401);
    const old = { username: user.email, password: PASSWORD };
    expect((await service.anonymous.post(LOGIN, old)).status).toBe(400);
    await logIn(service.anonymous, user.email, wanted.new);
  });

  it('of another user is nobody’s to change', async () => {
    const body = { old: PASSWORD, new: 'many small green apples', double: 'many small green apples' };
    expect((await service.http.put(`/iam/users/${person.userId}/password`, body)).status).toBe(403);
  });

  it('may be forgotten: the answer is the same for strangers, and the request is kept', async () => {
    for (const email of [person.email, anyEmail()]) {
      const answer = await service.anonymous.post('/iam/auth/password/forgot', { email });
      expect([answer.status, answer.body]).toEqual([200, { status: 'sent' }]);
    }
    const asked = 'select password_requested_at is not null as asked from users where id = $1';
    await expect.poll(async () => (await service.pool.query(asked, [person.userId])).rows).toEqual([{ asked: true }]);
    const bad = await service.anonymous.post('/iam/auth/password/forgot', { email: 'nobody' });
    expect(bad.body.errors.email).toBeDefined();
  });

  it('may be forgotten: the answer waits for nothing that depends on who has the address', async () => {
    const user = await newPerson(service.http);
    const report = (email: string) => service.anonymous.post('/iam/auth/password/forgot', { email });
    const client = await service.pool.connect();
    await client.query('begin');
    await client.query('select from users where id = $1 for update', [user.userId]);
    const answers = await Promise.race([
      Promise.all([report(user.email), report(anyEmail())]),
      sleep(10_000, undefined, { ref: false }),
    ]);
    await client.query('rollback');
    client.release();
    expect(answers?.map(({ status, body }) => [status, body])).toEqual(Array(2).fill([200, { status: 'sent' }]));
    const asked = 'select from password_resets where user_id = $1';
    await expect.poll(async () => (await service.pool.query(asked, [user.userId])).rowCount).toBe(1);
  });

  it('is kept as a slow hash, and nowhere else', async () => {
    const { rows } = await service.pool.query('select password_hash from users where id = $1', [person.userId]);
    expect(rows[0].password_hash).toMatch(/^\$argon2id\$/);
  });
});
