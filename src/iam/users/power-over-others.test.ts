import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../../../test/support/http-client.ts';
import { anyEmail, bearer, logIn, newPerson, PASSWORD, type Person } from '../../../test/support/logins.ts';
import { addReseller, type TestReseller } from '../../../test/support/reseller.ts';
import { startService, type TestService } from '../../../test/support/service.ts';

/** What an account or its reseller may do to a user whom it made and who also belongs to another account. */
let service: TestService;
/** The reseller of the account that made the person, and that account's administrator. */
let reseller: TestReseller;
let maker: Person;
/** The administrator of the other account, which belongs to another reseller. */
let elsewhere: Person;
let jane: { id: number; email: string; http: HttpClient };

beforeAll(async () => {
  service = await startService({ TRADEWIND_LOG_LEVEL: 'silent' });
  reseller = await addReseller(service, 'Grabber');
  maker = await newPerson(reseller.http);
  elsewhere = await newPerson(service.http);
  jane = await makePerson();
  await belongs(jane.id, elsewhere);
});
afterAll(() => service?.stop());

/** Inserts the membership directly, so that the test doesn't depend on how users join accounts. */
async function belongs(userId: number, { clientId }: Person, role = 5): Promise<void> {
  await service.pool.query(
    'insert into client_users (client_id, user_id, role_id, created_at) values ($1, $2, $3, now())',
    [clientId, userId, role],
  );
}

async function makePerson(): Promise<typeof jane> {
  const email = anyEmail();
  const { rows } = await service.pool.query(
    `insert into users (client_id, email, name, platform_administrator, created_at, password_hash)
     select $1, $2, 'Jane', false, now(), password_hash from users where id = $3 returning id`,
    [maker.clientId, email, maker.userId],
  );
  const [{ id }] = rows;
  await belongs(Number(id), maker);
  const http = bearer(service.url, await logIn(service.anonymous, email));
  return { id: Number(id), email, http };
}

/** Returns Jane's login in an account that the others don't control. */
async function atTheOther(): Promise<HttpClient> {
  const { status, body } = await jane.http.get(`/iam/auth/jwt/clients/${elsewhere.clientId}/login`);
  expect(status).toBe(200);
  return bearer(service.url, body);
}

const attackers = [
  ['the administrator of the account that made them', () => maker.http],
  ['its reseller', () => reseller.http],
] as const;

describe.each(attackers)('%s', (_, attacker) => {
  it('blocks the place in that account alone, and opens it again', async () => {
    const there = await atTheOther();
    const path = `/iam/users/${jane.id}`;
    const blocked = await attacker().patch(path, { is_active: false });
    expect([blocked.status, blocked.body.is_active]).toEqual([200, false]);
    expect((await there.get('/iam/clients/me')).status).toBe(200);
    const login = await logIn(service.anonymous, jane.email);
    expect((await bearer(service.url, login).get('/iam/clients/me')).body.id).toBe(elsewhere.clientId);
    expect((await elsewhere.http.get(path)).body.is_active).toBe(true);
    const opened = await attacker().patch(path, { is_active: true });
    expect([opened.status, opened.body.is_active]).toEqual([200, true]);
    jane.http = bearer(service.url, await logIn(service.anonymous, jane.email));
  });

  it('changes neither address nor name', async () => {
    const path = `/iam/users/${jane.id}`;
    const answers = [
      await attacker().patch(path, { email: anyEmail() }),
      await attacker().patch(path, { name: 'Somebody else' }),
      await attacker().put(`${path}/email`, { new_email: anyEmail(), password: PASSWORD }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 403, 403]);
    expect((await jane.http.get(path)).body).toMatchObject({ email: jane.email, name: 'Jane' });
  });

  it('does not see when and where they log in', async () => {
    const { body } = await maker.http.get('/iam/activity_log/logins?limit=1000');
    expect(body.result.map((each: { username: string }) => each.username)).not.toContain(jane.email);
  });
});

it('an address is the concern of its user even while they belong to one account alone', async () => {
  const only = await makePerson();
  for (const [, attacker] of attackers) {
    const answer = await attacker().patch(`/iam/users/${only.id}`, { email: anyEmail() });
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, ['email']]);
  }
});

it('an administrator does not change their own address without their password', async () => {
  const answer = await maker.http.patch(`/iam/users/${maker.userId}`, { email: anyEmail() });
  expect([answer.status, answer.body.errors.email[0]]).toEqual([400, expect.stringContaining('PUT')]);
});

it('a reseller deletes the place in its own account alone', async () => {
  const person = await makePerson();
  await belongs(person.id, elsewhere);
  const other = await newPerson(reseller.http);
  await belongs(person.id, other);
  const path = `/iam/users/${person.id}`;
  const several = await reseller.http.delete(path);
  expect([several.status, several.body.message]).toEqual([403, expect.stringContaining('client-users')]);
  expect(several.text).not.toContain(String(elsewhere.clientId));
  const taken = await reseller.http.delete(`/iam/clients/${other.clientId}/client-users/${person.id}`);
  expect(taken.status).toBe(200);
  expect((await reseller.http.delete(path)).status).toBe(200);
  expect((await reseller.http.get(path)).status).toBe(404);
  expect((await elsewhere.http.get(path)).status).toBe(200);
  const login = await logIn(service.anonymous, person.email);
  expect((await bearer(service.url, login).get('/iam/clients/me')).body.id).toBe(elsewhere.clientId);
});

it('another reseller neither blocks nor deletes', async () => {
  const rival = await addReseller(service, 'Rival');
  const path = `/iam/users/${jane.id}`;
  expect((await rival.http.patch(path, { is_active: false })).status).toBe(404);
  expect((await rival.http.delete(path)).status).toBe(404);
});

it('who acts in their name learns nothing of their other accounts', async () => {
  const { body } = await reseller.http.get(`/iam/auth/jwt/users/${jane.id}/token`);
  const made = await jane.http.post(`/iam/v2/clients/${maker.clientId}/tokens`, {
    name: 'x',
    exp_date: null,
    client_user: { role: { id: 2 } },
  });
  const acting = [bearer(service.url, body), createHttpClient(service.url, made.body.token)];
  for (const http of acting) {
    const seen = await http.get('/iam/users?limit=100');
    expect(seen.status).toBe(200);
    const self = seen.body.results.find(({ id }: { id: number }) => id === jane.id);
    expect(self.client_and_roles.map((each: { client_id: number }) => each.client_id)).toEqual([maker.clientId]);
  }
  const own = (await jane.http.get('/iam/users?limit=100')).body.results;
  expect(own.find(({ id }: { id: number }) => id === jane.id).client_and_roles).toHaveLength(2);
});

it('the platform blocks a person everywhere, and accounts can not open that again', async () => {
  const person = await makePerson();
  await belongs(person.id, elsewhere);
  const path = `/iam/users/${person.id}`;
  expect((await service.http.patch(path, { is_active: false })).body.is_active).toBe(false);
  expect((await person.http.get('/iam/clients/me')).status).toBe(401);
  const answer = await maker.http.patch(path, { is_active: true });
  expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, ['is_active']]);
  expect((await service.http.patch(path, { is_active: true })).body.is_active).toBe(true);
  await logIn(service.anonymous, person.email);
});

it('neither is one who acts in their name themselves', async () => {
  const person = await makePerson();
  const path = `/iam/users/${person.id}`;
  const { body } = await reseller.http.get(`/iam/auth/jwt/users/${person.id}/token`);
  const acting = bearer(service.url, body);
  // While the user only belongs to the reseller's clients, the reseller could do this in its own name.
  expect((await acting.patch(path, { name: 'Janet' })).status).toBe(200);
  await belongs(person.id, elsewhere);
  expect((await acting.patch(path, { name: 'Somebody else' })).status).toBe(403);
  expect((await person.http.patch(path, { name: 'Jane' })).body.name).toBe('Jane');
});

it('an account does not end what a user does with rights from elsewhere', async () => {
  const client = await newPerson(reseller.http);
  const { body: me } = await reseller.http.get('/iam/clients/me');
  await belongs(me.currentUser, elsewhere, 1);
  const { body } = await reseller.http.get(`/iam/auth/jwt/users/${client.userId}/token`);
  const acting = bearer(service.url, body);
  const path = `/iam/clients/${elsewhere.clientId}/client-users/${me.currentUser}`;
  expect((await elsewhere.http.put(path, { user_role: { id: 2 } })).status).toBe(204);
  expect((await elsewhere.http.patch(`/iam/users/${me.currentUser}`, { is_active: false })).status).toBe(200);
  expect((await elsewhere.http.delete(path)).status).toBe(200);
  expect((await acting.get('/iam/clients/me')).status).toBe(200);
});

it('an account learns the name of one who joined neither from tokens nor by looking for it', async () => {
  const host = await newPerson(reseller.http);
  const guest = await newPerson(service.http, { name: 'Zaphod' });
  await belongs(guest.userId, host);
  const { body: pair } = await guest.http.get(`/iam/auth/jwt/clients/${host.clientId}/login`);
  const tokens = `/iam/v2/clients/${host.clientId}/tokens`;
  const request = { name: 'x', exp_date: null, client_user: { role: { id: 2 } } };
  await bearer(service.url, pair).post(tokens, request);
  const { body: listed } = await host.http.get(tokens);
  expect(listed[0].client_user).toMatchObject({ user_name: guest.email, user_email: guest.email });
  expect((await reseller.http.get('/iam/clients?users_name=zaphod')).body).toEqual([]);
  expect((await reseller.http.get(`/iam/clients?users_email=${guest.email}`)).body).toHaveLength(1);
});

it('a reseller learns of few addresses of others by making users with them', async () => {
  const rival = await addReseller(service, 'Prober');
  const make = (email: string) => rival.http.post('/iam/users', { email, password: PASSWORD, company: 'x' });
  const statuses = [];
  for (let n = 0; n < 21; n++) statuses.push((await make(jane.email)).status);
  expect([statuses.at(-2), statuses.at(-1)]).toEqual([400, 429]);
  expect((await make(anyEmail())).status).toBe(429);
});
