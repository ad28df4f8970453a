import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../../../../test/support/http-client.ts';
import {
  CLIENT,
  type IdentityProviderServer,
  type PersonOfProvider,
  startIdentityProvider,
} from '../../../../test/support/identity-provider.ts';
import {
  anyEmail,
  bearer,
  comes,
  joins,
  logIn,
  newPerson,
  PASSWORD,
  type Person,
} from '../../../../test/support/logins.ts';
import { addReseller } from '../../../../test/support/reseller.ts';
import { addApp } from '../../../../test/support/second-factors.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const PUBLIC = 'https://cloud.example.com';
const CALLBACK = `${PUBLIC}/tradewind/v1/sign_in/callback`;
const BASE = '/tradewind/v1/identity_providers';

let service: TestService;
let company: IdentityProviderServer;
let other: IdentityProviderServer;
beforeAll(async () => {
  service = await startService({
    TRADEWIND_PUBLIC_URL: PUBLIC,
    TRADEWIND_WEBHOOK_ALLOW_HOSTS: '127.0.0.1',
    TRADEWIND_CONSOLE: 'off',
    TRADEWIND_LOG_LEVEL: 'silent',
  });
  [company, other] = [await startIdentityProvider(CALLBACK), await startIdentityProvider(CALLBACK)];
});
afterAll(async () => {
  await Promise.all([company?.stop(), other?.stop()]);
  await service?.stop();
});
afterEach(() => {
  company.forge = undefined;
  company.stranger = false;
});

async function makeProvider(http: HttpClient, more: object = {}): Promise<string> {
  const made = await http.post(BASE, {
    name: 'Company',
    issuer: company.issuer,
    ...CLIENT,
    email_domains: ['example.com'],
    groups: [
      { group: 'bosses', role: 'Administrators' },
      { group: 'developers', role: 'Engineers' },
    ],
    ...more,
  });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}

const anybody = (more: Partial<PersonOfProvider> = {}): PersonOfProvider => {
  const email = anyEmail();
  return { sub: email.slice(0, 20), email, email_verified: true, name: 'Jo Doe', groups: ['developers'], ...more };
};

/** Begins to sign in. Returns where the browser is sent to, and its cookie. */
async function begin(id: string): Promise<{ url: string; cookie: string }> {
  const started = await service.anonymous.get(`/tradewind/v1/sign_in/${id}`);
  expect(started.status, started.text).toBe(302);
  const cookie = (started.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  return { url: started.headers.get('location') ?? '', cookie };
}

/** Goes back from the provider with what it gave. */
const finish = (back: string, cookie: string | undefined) =>
  service.anonymous.request('GET', `/tradewind/v1/sign_in/callback${new URL(back).search}`, {
    ...(cookie !== undefined && { headers: { cookie } }),
  });

async function signIn(id: string, person: PersonOfProvider, server = company) {
  server.person = person;
  const { url, cookie } = await begin(id);
  return finish(await server.visit(url), cookie);
}

const changed = (back: string, values: Record<string, string>): string => {
  const url = new URL(back);
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
  return url.href;
};
const saying = (text: RegExp) => expect.stringMatching(text);
const messageOf = ({ text }: { text: string }) => text;

describe('identity providers', () => {
  it('are made, listed, changed and deleted, and never show their secret', async () => {
    const person = await newPerson(service.http);
    const id = await makeProvider(person.http);
    const got = await person.http.get(`${BASE}/${id}`);
    expect(got.body).toMatchObject({
      client_id: person.clientId,
      reseller_id: null,
      has_client_secret: true,
      scopes: ['openid', 'profile', 'email'],
      groups_claim: 'groups',
      default_role: null,
      enabled: true,
      required: false,
      sign_in_path: `/tradewind/v1/sign_in/${id}`,
    });
    expect(got.text).not.toContain(CLIENT.oidc_client_secret);
    const kept = await service.pool.query('select oidc_client_secret from identity_providers where id = $1', [id]);
    expect(kept.rows[0].oidc_client_secret).not.toContain(CLIENT.oidc_client_secret);
    const list = await person.http.get(BASE);
    expect(list.body).toEqual({ count: 1, results: [got.body], public_url: PUBLIC });
    const patched = await person.http.patch(`${BASE}/${id}`, { name: 'Other', default_role: 'Users' });
    expect([patched.status, patched.body.name, patched.body.default_role]).toEqual([200, 'Other', 'Users']);
    expect((await person.http.delete(`${BASE}/${id}`)).status).toBe(204);
    expect((await person.http.get(`${BASE}/${id}`)).status).toBe(404);
  });

  it('are nobody else’s business', async () => {
    const [person, stranger] = [await newPerson(service.http), await newPerson(service.http)];
    const email = `member-of-${person.email}`;
    await comes(person, email, { id: 5 });
    const member = bearer(service.url, await logIn(service.anonymous, email));
    const id = await makeProvider(person.http);
    for (const [http, status] of [
      [stranger.http, 404],
      [member, 403],
    ] as const) {
      expect((await http.get(`${BASE}/${id}`)).status).toBe(status);
      expect((await http.patch(`${BASE}/${id}`, { enabled: false })).status).toBe(status);
      expect((await http.delete(`${BASE}/${id}`)).status).toBe(status);
    }
    expect((await stranger.http.get(BASE)).body.count).toBe(0);
    expect((await stranger.http.post(BASE, { ...validBody(), for_reseller: true })).status).toBe(403);
  });

  it('are refused where they could lead inside, without TLS, or into the account of somebody else', async () => {
    const [person, stranger] = [await newPerson(service.http), await newPerson(service.http)];
    const wrong = [
      { issuer: 'https://10.0.0.7' },
      { issuer: 'http://login.example.com' },
      { issuer: 'https://login.example.com/?a=b' },
      { issuer: 'https://user:word@login.example.com' },
      { email_domains: [] },
      { groups: [{ group: 'x', role: 'Administrators', client_id: stranger.clientId }] },
      { groups: [{ group: 'x', role: 'Resellers' }] },
    ];
    for (const each of wrong) {
      const made = await person.http.post(BASE, { ...validBody(), ...each });
      expect([made.status, made.text]).toEqual([400, expect.anything()]);
    }
    for (let at = 0; at < 20; at++) await makeProvider(person.http);
    expect((await person.http.post(BASE, validBody())).status).toBe(409);
  });
});

const validBody = () => ({ name: 'A', issuer: company.issuer, ...CLIENT, email_domains: ['example.com'] });

describe('signing in', () => {
  it('makes a user with the role of the groups, who comes again as the same', async () => {
    const host = await newPerson(service.http);
    const id = await makeProvider(host.http);
    const person = anybody();
    const first = await signIn(id, person);
    expect(first.status, first.text).toBe(200);
    const http = bearer(service.url, first.body);
    const { body: listed } = await host.http.get('/iam/users');
    const user = listed.results.find((one: { email: string }) => one.email === person.email);
    expect(user).toMatchObject({
      name: 'Jo Doe',
      auth_types: ['sso'],
      sso_auth: true,
      activated: false,
      groups: [{ id: 5, name: 'Engineers' }],
      user_type: 'common',
    });
    expect((await http.get('/iam/clients/me')).body.id).toBe(host.clientId);
    const attempts = await host.http.get('/iam/activity_log/logins');
    expect(attempts.body.result[0]).toMatchObject({ username: person.email, auth_type: 'sso', successful: true });

    const again = await signIn(id, { ...person, groups: ['bosses', 'developers'], email: anyEmail() });
    expect(again.status, again.text).toBe(200);
    expect((await host.http.get(`/iam/users/${user.id}`)).body.groups).toEqual([{ id: 1, name: 'Administrators' }]);
    expect((await http.get(BASE)).status).toBe(200);
    const next = await service.anonymous.post('/iam/auth/jwt/refresh', { refresh: again.body.refresh });
    expect(next.status).toBe(200);
    const [kept] = (
      await service.pool.query('select ends_at - created_at as most from login_sessions where user_id = $1 limit 1', [
        user.id,
      ])
    ).rows;
    expect(kept.most).toEqual(expect.objectContaining({ hours: 12 }));
  });

  it('lets in whom no group names by the default role only, and shuts out whoever has lost the groups', async () => {
    const host = await newPerson(service.http);
    const id = await makeProvider(host.http);
    const person = anybody();
    const first = await signIn(id, person);
    const http = bearer(service.url, first.body);
    const refused = await signIn(id, { ...person, groups: ['gardeners'] });
    expect([refused.status, messageOf(refused)]).toEqual([403, saying(/None of your groups/)]);
    expect((await http.get('/iam/clients/me')).status).toBe(401);
    const { refresh } = first.body;
    expect((await service.anonymous.post('/iam/auth/jwt/refresh', { refresh })).status).toBe(401);
    const back = await signIn(id, person);
    expect(back.status).toBe(200);

    const newcomer = anybody({ groups: [] });
    expect((await signIn(id, newcomer)).status).toBe(403);
    await host.http.patch(`${BASE}/${id}`, { default_role: 'Users' });
    expect((await signIn(id, newcomer)).status).toBe(200);
  });

  it('is in the audit log and the events if it makes somebody, or changes what they are', async () => {
    const host = await newPerson(service.http);
    const id = await makeProvider(host.http);
    const person = anybody();
    await signIn(id, person);
    await signIn(id, person);
    await signIn(id, { ...person, groups: ['bosses'] });
    await signIn(id, { ...person, groups: [] });
    const users = await host.http.get('/iam/users');
    const { id: user_id } = users.body.results.find((one: { email: string }) => one.email === person.email);
    const { records } = (await host.http.get(`/tradewind/v1/audit?user_id=${user_id}`)).body;
    expect(records.map(({ type }: { type: string }) => type)).toEqual(
      ['updated', 'updated', 'created'].map((verb) => `tradewind.user.${verb}`),
    );
    expect(records[0]).toMatchObject({
      client_id: host.clientId,
      actor: { kind: 'user', user_id, token: null },
      operation: null,
      method: 'GET',
      path: '/tradewind/v1/sign_in/callback',
      subject: `user/${user_id}`,
      outcome: 'accepted',
      status: null,
    });
    const told = await host.http.get(`/tradewind/v1/events?cursor=oldest&subject=user/${user_id}`);
    const ofSignIn = { type: 'tradewind.user.created', data: { actor: { user_id }, reason: 'Signed in with Company' } };
    expect(told.body.events).toHaveLength(3);
    expect(told.body.events[0]).toMatchObject(ofSignIn);
  });

  it('is in the audit log if it binds somebody to the provider who has no password, and was here before', async () => {
    const host = await newPerson(service.http);
    const former = await makeProvider(host.http);
    const person = anybody();
    expect((await signIn(former, person)).status).toBe(200);
    expect((await host.http.delete(`${BASE}/${former}`)).status).toBe(204);
    expect((await signIn(await makeProvider(host.http), person)).status).toBe(200);
    const users = await host.http.get('/iam/users');
    const { id } = users.body.results.find((one: { email: string }) => one.email === person.email);
    const { records } = (await host.http.get(`/tradewind/v1/audit?user_id=${id}`)).body;
    expect(records.map(({ type }: { type: string }) => type)).toEqual([
      'tradewind.user.updated',
      'tradewind.user.created',
    ]);
  });

  it('does not let in whom an administrator has blocked', async () => {
    const host = await newPerson(service.http);
    const id = await makeProvider(host.http);
    const person = anybody();
    const { body } = await signIn(id, person);
    const { id: userId } = (await bearer(service.url, body).get('/iam/clients/me')).body.users?.[0] ?? {};
    const users = await host.http.get('/iam/users');
    const user = users.body.results.find((one: { email: string }) => one.email === person.email);
    expect(userId === undefined || typeof userId === 'number').toBe(true);
    expect((await host.http.patch(`/iam/users/${user.id}`, { is_active: false })).status).toBe(200);
    const refused = await signIn(id, person);
    expect([refused.status, messageOf(refused)]).toEqual([403, saying(/has blocked you/)]);
    expect((await signIn(id, { ...person, groups: ['bosses'] })).status).toBe(403);
  });

  it('asks the provider for what its token lacks, and takes no address that it has not verified', async () => {
    const host = await newPerson(service.http);
    const id = await makeProvider(host.http);
    const wrong = [
      anybody({ email_verified: false }),
      anybody({ email_verified: undefined as never }),
      anybody({ email: 'somebody@elsewhere.example' }),
      anybody({ email: 'somebody@sub.example.com' }),
      anybody({ email: 'somebody@elsewhere.example@example.com' }),
    ];
    for (const person of wrong) {
      const refused = await signIn(id, person);
      expect([400, 403], refused.text).toContain(refused.status);
    }
    expect((await host.http.get('/iam/users')).body.count).toBe(1);
  });

  it('takes over no user who has a password, or who is of another account', async () => {
    const [host, stranger] = [await newPerson(service.http), await newPerson(service.http)];
    const id = await makeProvider(host.http);
    for (const email of [host.email, stranger.email, stranger.email.toUpperCase()]) {
      const refused = await signIn(id, anybody({ email, groups: ['bosses'] }));
      expect([refused.status, messageOf(refused)]).toEqual([expect.any(Number), saying(/already|domain/)]);
      expect(refused.status).toBeGreaterThanOrEqual(400);
    }
    const foreign = await makeProvider(stranger.http, { issuer: other.issuer });
    const person = anybody();
    expect((await signIn(id, person)).status).toBe(200);
    // The same subject and address at another provider is somebody else.
    const refused = await signIn(foreign, person, other);
    expect([refused.status, messageOf(refused)]).toEqual([400, saying(/already/)]);
  });
});

describe('attacks on signing in', () => {
  let host: Person;
  let id: string;
  beforeAll(async () => {
    host = await newPerson(service.http);
    id = await makeProvider(host.http);
  });

  async function there(person = anybody()) {
    company.person = person;
    const { url, cookie } = await begin(id);
    return { back: await company.visit(url), cookie, url };
  }
  const refusedState = async (back: string, cookie: string | undefined) => {
    const answer = await finish(back, cookie);
    expect([answer.status, answer.text]).toEqual([400, saying(/not begun in this browser/)]);
  };

  it('asks with a state, a nonce and PKCE, and binds the browser by a cookie that no script reads', async () => {
    const started = await service.anonymous.get(`/tradewind/v1/sign_in/${id}`);
    const asked = new URL(started.headers.get('location') ?? '').searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      redirect_uri: CALLBACK,
      code_challenge_method: 'S256',
      code_challenge: saying(/^[\w-]{43}$/),
      state: saying(/^[\w-]{43}$/),
      nonce: saying(/^[\w-]{43}$/),
    });
    expect(started.headers.get('set-cookie')).toMatch(
      /^__Host-tw_sign_in=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const { rows } = await service.pool.query('select * from sign_in_states');
    expect(JSON.stringify(rows)).not.toContain(asked.get('state'));
  });

  it('refuses a callback that is sent twice', async () => {
    const { back, cookie } = await there();
    expect((await finish(back, cookie)).status).toBe(200);
    await refusedState(back, cookie);
  });

  it('refuses a forged state, an old one, and one of another browser', async () => {
    const { back, cookie } = await there();
    await refusedState(changed(back, { state: 'x'.repeat(43) }), cookie);
    await refusedState(back, undefined);
    await refusedState(back, (await begin(id)).cookie);
    await service.pool.query(`update sign_in_states set expires_at = now() - interval '1 second'`);
    await refusedState(back, cookie);
  });

  it('refuses the code of one provider at the callback of another, and an answer of another issuer', async () => {
    const second = await makeProvider(host.http, { issuer: other.issuer });
    const [one, two] = [await there(), await begin(second)];
    const code = new URL(one.back).searchParams.get('code') ?? '';
    const state = new URL(two.url).searchParams.get('state') ?? '';
    const mixed = changed(CALLBACK, { code, state, iss: other.issuer });
    expect((await finish(mixed, two.cookie)).status).toBe(403);
    const { back, cookie } = await there();
    expect((await finish(changed(back, { iss: other.issuer }), cookie)).status).toBe(403);
    const without = await there();
    const url = new URL(without.back);
    url.searchParams.delete('iss');
    expect((await finish(url.href, without.cookie)).status).toBe(403);
  });

  it.each([
    ['of another nonce', (claims: object) => ({ ...claims, nonce: 'other' })],
    ['without a nonce', (claims: object) => ({ ...claims, nonce: undefined })],
    ['for another audience', (claims: object) => ({ ...claims, aud: 'somebody-else' })],
    ['of another issuer', (claims: object) => ({ ...claims, iss: 'http://127.0.0.1:1' })],
    ['that has expired', (claims: object) => ({ ...claims, exp: 1_000 })],
  ])('refuses an ID token %s', async (_which, forge) => {
    company.forge = forge;
    const { back, cookie } = await there();
    expect((await finish(back, cookie)).status).toBe(403);
  });

  it('accepts the same token as it was', async () => {
    company.forge = (claims) => claims;
    const { back, cookie } = await there();
    expect((await finish(back, cookie)).status).toBe(200);
  });

  it('refuses an ID token that somebody else has signed', async () => {
    company.stranger = true;
    const { back, cookie } = await there();
    expect((await finish(back, cookie)).status).toBe(403);
  });

  it('refuses an expired code, and a browser that the provider let not in', async () => {
    const { back, cookie } = await there();
    await company.expire(new URL(back).searchParams.get('code') ?? '');
    expect((await finish(back, cookie)).status).toBe(403);
    const denied = await begin(id);
    const state = new URL(denied.url).searchParams.get('state') ?? '';
    const answer = await finish(
      changed(CALLBACK, { state, error: 'access_denied', iss: company.issuer }),
      denied.cookie,
    );
    expect([answer.status, answer.text]).toEqual([403, saying(/has not let you in/)]);
  });

  it('refuses what a provider answers that was disabled or deleted meanwhile', async () => {
    const one = await makeProvider(host.http);
    company.person = anybody();
    const begun = [await begin(one), await begin(one)];
    const backs = [await company.visit(begun[0]?.url ?? ''), await company.visit(begun[1]?.url ?? '')];
    await host.http.patch(`${BASE}/${one}`, { enabled: false });
    await refusedState(backs[0] ?? '', begun[0]?.cookie);
    expect((await service.anonymous.get(`/tradewind/v1/sign_in/${one}`)).status).toBe(404);
    await host.http.delete(`${BASE}/${one}`);
    await refusedState(backs[1] ?? '', begun[1]?.cookie);
  });

  it('ends the logins of a provider that is disabled', async () => {
    const one = await makeProvider(host.http);
    const { body } = await signIn(one, anybody());
    const http = bearer(service.url, body);
    expect((await http.get('/iam/clients/me')).status).toBe(200);
    await host.http.patch(`${BASE}/${one}`, { enabled: false });
    expect((await http.get('/iam/clients/me')).status).toBe(401);
  });

  it('does not go to addresses that the operator does not allow', async () => {
    const before = await newPerson(service.http);
    const inside = await makeProvider(before.http, { issuer: 'https://login.example.com' });
    await service.pool.query(`update identity_providers set issuer = 'https://127.0.0.2:9' where id = $1`, [inside]);
    const answer = await service.anonymous.get(`/tradewind/v1/sign_in/${inside}`);
    expect([answer.status, answer.text]).toEqual([403, saying(/could not be reached/)]);
  });
});

describe('what a provider may give', () => {
  it('is never what a reseller or the platform has', async () => {
    const reseller = await addReseller(service, 'Beyond');
    const host = await newPerson(reseller.http);
    const id = await makeProvider(host.http);
    const person = anybody({ groups: ['bosses'] });
    const { body } = await signIn(id, person);
    const http = bearer(service.url, body);
    expect((await http.get('/iam/clients')).status).toBe(403);
    // Even if the user gets such rights: they do not come from the company.
    await service.pool.query(
      `update users set reseller_id = (select reseller_id from clients where id = $1) where lower(email) = $2`,
      [host.clientId, person.email],
    );
    const fresh = await service.anonymous.post('/iam/auth/jwt/refresh', { refresh: body.refresh });
    expect((await bearer(service.url, fresh.body).get('/iam/clients')).status).toBe(403);
    const refused = await signIn(id, person);
    expect([refused.status, messageOf(refused)]).toEqual([403, saying(/rights beyond accounts/)]);
  });

  it('is good in its own account only', async () => {
    const [host, elsewhere] = [await newPerson(service.http), await newPerson(service.http)];
    const id = await makeProvider(host.http);
    const person = anybody();
    const { body } = await signIn(id, person);
    // The user belongs to another account as well.
    await service.pool.query(
      `insert into client_users (client_id, user_id, role_id, created_at)
       select $1, id, 1, now() from users where email = $2`,
      [elsewhere.clientId, person.email],
    );
    const entered = await bearer(service.url, body).get(`/iam/auth/jwt/clients/${elsewhere.clientId}/login`);
    expect([entered.status, entered.text]).toEqual([403, saying(/no say in this account/)]);
  });

  it('may be, for a reseller, the clients that the groups name', async () => {
    const reseller = await addReseller(service, 'Own provider');
    const [one, two] = [await newPerson(reseller.http), await newPerson(reseller.http)];
    const stranger = await newPerson(service.http);
    const groups = [
      { group: 'one', role: 'Engineers', client_id: one.clientId },
      { group: 'two', role: 'Administrators', client_id: two.clientId },
    ];
    const wrong = { ...validBody(), for_reseller: true };
    for (const each of [
      { groups: [{ group: 'x', role: 'Users', client_id: stranger.clientId }] },
      { groups: [{ group: 'x', role: 'Users' }] },
      { required: true },
      { default_role: 'Users' },
    ]) {
      expect((await reseller.http.post(BASE, { ...wrong, ...each })).status).toBe(400);
    }
    const id = await makeProvider(reseller.http, { for_reseller: true, groups });
    const person = anybody({ groups: ['one'] });
    const first = await signIn(id, person);
    expect(first.status, first.text).toBe(200);
    expect((await bearer(service.url, first.body).get('/iam/clients/me')).body.id).toBe(one.clientId);
    const both = await signIn(id, { ...person, groups: ['one', 'two'] });
    const entered = await bearer(service.url, both.body).get(`/iam/auth/jwt/clients/${two.clientId}/login`);
    expect(entered.status, entered.text).toBe(200);
    const moved = await signIn(id, { ...person, groups: ['two'] });
    expect((await bearer(service.url, moved.body).get('/iam/clients/me')).body.id).toBe(two.clientId);
    const joined = await two.http.get('/tradewind/v1/audit?type=tradewind.user.created&limit=1');
    expect(joined.body.records[0]).toMatchObject({ client_id: two.clientId, path: '/tradewind/v1/sign_in/callback' });
    expect((await two.http.get(BASE)).body.count).toBe(0);
    expect((await two.http.get(`${BASE}/${id}`)).status).toBe(404);
  });
});

describe('with the console', () => {
  it('signs in only the browser that began, once', async () => {
    const served = await startService({
      TRADEWIND_PUBLIC_URL: PUBLIC,
      TRADEWIND_WEBHOOK_ALLOW_HOSTS: '127.0.0.1',
      TRADEWIND_LOG_LEVEL: 'silent',
    });
    try {
      const id = await makeProvider((await newPerson(served.http)).http);
      company.person = anybody();
      const started = await served.anonymous.get(`/tradewind/v1/sign_in/${id}`);
      const cookie = (started.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      const back = await company.visit(started.headers.get('location') ?? '');
      const path = `/tradewind/v1/sign_in/callback${new URL(back).search}`;
      const done = await served.anonymous.request('GET', path, { headers: { cookie } });
      expect(done.status, done.text).toBe(302);
      const [, code = ''] =
        /^https:\/\/cloud\.example\.com\/console\/#code=([\w-]{22})$/.exec(done.headers.get('location') ?? '') ?? [];
      const exchange = (headers: Record<string, string>) =>
        served.anonymous.request('POST', '/iam/auth/console/exchange', {
          body: { code },
          headers: { origin: served.url, ...headers },
        });
      expect((await exchange({})).status).toBe(400);
      const signedIn = await exchange({ cookie });
      expect([signedIn.status, signedIn.body]).toEqual([200, { access: expect.any(String) }]);
      expect((await exchange({ cookie })).status).toBe(400);
    } finally {
      await served.stop();
    }
  });
});

describe('an account that requires its provider', () => {
  it('takes no passwords, except from administrators with a second factor', async () => {
    const host = await newPerson(service.http);
    const id = await makeProvider(host.http);
    const own = await host.http.patch(`${BASE}/${id}`, { required: true });
    expect([own.status, own.text]).toEqual([409, saying(/second factor/)]);
    const email = `member-of-${host.email}`;
    await comes(host, email, { id: 5 });
    const member = await logIn(service.anonymous, email);
    await addApp(host);
    expect((await host.http.patch(`${BASE}/${id}`, { required: true })).status).toBe(200);
    const password = (username: string) =>
      service.anonymous.post('/iam/auth/jwt/login', { username, password: PASSWORD });
    const refused = await password(email);
    expect([refused.status, refused.text]).toEqual([403, saying(/sign in with your company/)]);
    expect((await service.anonymous.post('/iam/auth/jwt/refresh', { refresh: member.refresh })).status).toBe(401);
    // Else the password alone would let an administrator in: with a factor of whoever has it.
    const still = bearer(service.url, member);
    const app = await still.post('/tradewind/v1/second_factors/totp', { name: 'Phone', password: PASSWORD });
    expect([app.status, app.text]).toEqual([403, saying(/sign in with your company/)]);
    const changed = { old: PASSWORD, new: 'many small green apples', double: 'many small green apples' };
    const { currentUser } = (await still.get('/iam/clients/me')).body;
    expect((await still.put(`/iam/users/${currentUser}/password`, changed)).status).toBe(403);
    expect((await password(host.email)).body.challenge).toEqual(expect.any(String));
    expect((await signIn(id, anybody())).status).toBe(200);
    await host.http.patch(`${BASE}/${id}`, { enabled: false });
    expect((await password(email)).status).toBe(200);
  });

  it('is not entered from another account with a password', async () => {
    const [host, person] = [await newPerson(service.http), await newPerson(service.http)];
    await joins(host, person);
    await addApp(host);
    await makeProvider(host.http, { required: true });
    const entered = await person.http.get(`/iam/auth/jwt/clients/${host.clientId}/login`);
    expect([entered.status, entered.text]).toEqual([403, saying(/takes no passwords/)]);
    const token = createHttpClient(service.url, undefined);
    expect((await token.get('/iam/clients/me')).status).toBe(401);
  });

  it('lets nobody choose a password who came by the provider', async () => {
    const host = await newPerson(service.http);
    const id = await makeProvider(host.http);
    const person = anybody();
    await signIn(id, person);
    const asked = await host.http.post('/iam/auth/reset_password', { email: person.email });
    expect(asked.status, asked.text).toBe(200);
    const { rows } = await service.pool.query('select password_requested_at from users where email = $1', [
      person.email,
    ]);
    expect(rows).toEqual([{ password_requested_at: null }]);
  });
});
