import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpClient } from '../../../test/support/http-client.ts';
import {
  anyEmail,
  bearer,
  choosePassword,
  comes,
  invite,
  joins,
  logIn,
  newPerson,
  PASSWORD,
  type Person,
} from '../../../test/support/logins.ts';
import { addReseller, type TestReseller } from '../../../test/support/reseller.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { openDatabase } from '../../db/database.ts';
import { forgetInvitations } from './invitation-store.ts';
import { MOST_A_DAY, MOST_OPEN } from './invited.ts';

const INVITE = '/iam/clients/invite_user';
let service: TestService;
let boss: Person;
beforeAll(async () => {
  service = await startService({ TRADEWIND_LOG_LEVEL: 'silent' });
  boss = await newPerson(service.http, { name: 'Boss' });
});
afterAll(() => service?.stop());

const accept = (token: string, password = PASSWORD) =>
  service.anonymous.post('/iam/auth/accept_invitation', { token, password });
const renew = (http: HttpClient, email: string) => http.post('/iam/auth/renew_invitation', { email });
const member = ({ clientId }: Person, userId: number) => `/iam/clients/${clientId}/client-users/${userId}`;
/** A well-formed token that was never issued. */
const strange = (userId: number) => `invitation_${userId}_${'0f'.repeat(32)}`;

describe('inviting', () => {
  it('answers a token, once, and no cache or key keeps it', async () => {
    const body = { email: anyEmail(), user_role: { id: 5 }, client_id: boss.clientId };
    const headers = { 'idempotency-key': `invite-${body.email}` };
    const answer = await boss.http.request('POST', INVITE, { body, headers });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(answer.body).toEqual({
      status: 'sent',
      user_id: expect.any(Number),
      invitation_token: expect.stringMatching(/^invitation_\d+_[0-9a-f]{64}$/),
      invitation_expires: expect.stringMatching(/Z$/),
    });
    expect((await boss.http.request('POST', INVITE, { body, headers })).status).toBe(409);
    const { rows } = await service.pool.query(
      `select to_jsonb(i)::text || coalesce((select string_agg(body, '') from idempotency_keys), '') as kept
         from invitations i where user_id = $1`,
      [answer.body.user_id],
    );
    expect(rows[0].kept).not.toContain(answer.body.invitation_token.slice(-64));
  });

  it('tells nothing of who is there: known and unknown look the same in every way', async () => {
    const stranger = await newPerson(service.http, { name: 'Known', phone: '+12025550123' });
    const seen = [];
    for (const email of [stranger.email, anyEmail()]) {
      const answer = await invite(boss, email, { id: 2 });
      const read = await boss.http.get(`/iam/users/${answer.user_id}`);
      const role = await boss.http.get(member(boss, answer.user_id));
      const list = await boss.http.get('/iam/users');
      const listed = list.body.results.find(({ id }: { id: number }) => id === answer.user_id);
      expect(answer.user_id).toBeGreaterThan(stranger.userId);
      seen.push({
        fields: Object.keys(answer),
        read: { ...read.body, id: 0, email: '' },
        role: role.body,
        listed: { ...listed, id: 0, email: '', client_and_roles: listed.client_and_roles.length },
        again: (await boss.http.post(INVITE, { email, user_role: {}, client_id: boss.clientId })).status,
      });
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]?.read).toMatchObject({ activated: false, name: 'Guest', phone: null });
    expect((await boss.http.get(`/iam/users/${stranger.userId}`)).status).toBe(404);
    expect((await stranger.http.get(`/iam/auth/jwt/clients/${boss.clientId}/login`)).status).toBe(403);
  });

  it('gives nobody rights before they come', async () => {
    const host = await newPerson(service.http);
    const { user_id: userId } = await invite(host, anyEmail(), { id: 1 });
    // Not an administrator who may log in, so the existing one has to stay.
    expect((await host.http.delete(member(host, host.userId))).status).toBe(409);
    expect((await service.http.get(`/iam/auth/jwt/users/${userId}/token`)).status).toBe(404);
    const tokens = await service.http.get(`/iam/v2/clients/${host.clientId}/tokens?issued_by=${userId}`);
    expect(tokens.body).toEqual([]);
    expect((await service.http.get(`/iam/clients/${host.clientId}`)).body.owner).toBe(host.userId);
  });

  it.each([
    [{ user_role: { id: 9 } }, 'user_role'],
    [{ user_role: { id: 5, name: 'Users' } }, 'user_role'],
    [{ user_role: undefined }, 'user_role'],
    [{ email: 'x@y' }, 'email'],
    [{ client_id: undefined }, 'client_id'],
  ])('is refused for %j', async (wrong, field) => {
    const body = { email: anyEmail(), user_role: { id: 5 }, client_id: boss.clientId, ...wrong };
    const answer = await boss.http.post(INVITE, body);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [field]]);
  });

  it('takes Users where no role is named, and refuses whoever is in the account', async () => {
    const email = anyEmail();
    const invited = await invite(boss, email, {});
    expect((await boss.http.get(member(boss, invited.user_id))).body.user_role).toEqual({
      id: 2,
      name: 'Users',
    });
    const again = await boss.http.post(INVITE, { email, user_role: {}, client_id: boss.clientId });
    expect(again.body.errors.email[0]).toMatch(
      `User ${invited.user_id} has already been invited to client ${boss.clientId}`,
    );
    await accept(invited.invitation_token);
    const there = await boss.http.post(INVITE, { email, user_role: {}, client_id: boss.clientId });
    expect([there.status, there.body.errors.email[0]]).toEqual([400, expect.stringMatching(/already belongs/)]);
  });

  it("is for the account's administrators and its reseller", async () => {
    const body = { email: anyEmail(), user_role: { id: 2 }, client_id: boss.clientId };
    const engineerId = await comes(boss, anyEmail(), { id: 5 });
    const { body: engineer } = await service.http.get(`/iam/auth/jwt/users/${engineerId}/token`);
    const stranger = await newPerson(service.http);
    const rival = await addReseller(service, 'Rival');
    for (const http of [bearer(service.url, engineer), stranger.http, rival.http]) {
      expect((await http.post(INVITE, body)).status).toBe(403);
    }
    expect((await service.anonymous.post(INVITE, body)).status).toBe(401);
    expect((await service.http.post(INVITE, body)).status).toBe(200);
  });

  it('has an end: so many without an answer, and so many a day', async () => {
    const host = await newPerson(service.http);
    const fill = (count: number, ended: boolean) =>
      service.pool.query(
        `with invited as (
           insert into users (client_id, email, platform_administrator, pending, deleted_at, created_at)
           select $1, 'filler-' || gen_random_uuid() || '@example.com', false, true, case when $3 then now() end, now()
             from generate_series(1, $2::int) returning id)
         insert into invitations (user_id, client_id, secret_hash, invited_by, created_at, expires_at, ended_at)
         select id, $1, '', $4, now(), now() + interval '1 day', case when $3 then now() end from invited`,
        [host.clientId, count, ended, host.userId],
      );
    await fill(MOST_OPEN - 1, false);
    await invite(host, anyEmail());
    const body = { email: anyEmail(), user_role: { id: 2 }, client_id: host.clientId };
    const full = await host.http.post(INVITE, body);
    expect([full.status, full.body.errors.errors[0]]).toEqual([400, expect.stringMatching(/open invitations/)]);
    await service.pool.query('update invitations set ended_at = now() where client_id = $1', [host.clientId]);
    await fill(MOST_A_DAY - MOST_OPEN - 1, true);
    await invite(host, anyEmail());
    const late = await host.http.post(INVITE, body);
    expect([late.status, late.body.errors.errors[0]]).toEqual([400, expect.stringMatching(/in 24 hours/)]);
    expect((await service.http.post(INVITE, body)).status).toBe(200);
  });
});

describe('coming', () => {
  it('makes a user who logs in with the password that they chose, under the number that was told', async () => {
    const email = anyEmail();
    const { user_id, invitation_token } = await invite(boss, email, { id: 5 });
    expect((await accept(invitation_token, 'short')).body.errors.password[0]).toMatch(/8 characters/);
    const answer = await accept(invitation_token);
    expect([answer.status, answer.body]).toEqual([200, { user_id, client_id: boss.clientId }]);
    const http = bearer(service.url, await logIn(service.anonymous, email));
    expect((await http.get('/iam/clients/me')).body).toMatchObject({
      id: boss.clientId,
      currentUser: user_id,
    });
    expect((await boss.http.get(`/iam/users/${user_id}`)).body).toMatchObject({
      activated: true,
      name: 'Guest',
    });
    expect((await accept(invitation_token)).body.errors.token[0]).toMatch(/Not valid/);
  });

  it('of somebody who logs in already takes their password, and one that nobody else chose', async () => {
    const person = await newPerson(service.http);
    const { user_id, invitation_token } = await invite(boss, person.email, { id: 2 });
    const wrong = await accept(invitation_token, 'another password');
    expect([wrong.status, wrong.body.errors.password[0]]).toEqual([
      400,
      expect.stringMatching(/^This is not the password/),
    ]);
    const given = await accept(invitation_token);
    expect([given.status, given.body.errors.password[0]]).toEqual([400, expect.stringMatching(/Somebody else chose/)]);
    await choosePassword(person);
    const answer = await accept(invitation_token, person.password);
    expect([answer.status, answer.body]).toEqual([200, { user_id: person.userId, client_id: boss.clientId }]);
    expect((await boss.http.get(member(boss, person.userId))).body.user_role.id).toBe(2);
    expect((await boss.http.get(member(boss, user_id))).status).toBe(404);
    // Home is the account that made them.
    expect((await person.http.get('/iam/clients/me')).body.id).toBe(person.clientId);
  });

  it('needs a token that holds', async () => {
    const { user_id, invitation_token } = await invite(boss, anyEmail());
    const other = await invite(boss, anyEmail());
    const mixed = `invitation_${user_id}_${other.invitation_token.slice(-64)}`;
    for (const token of [strange(user_id), strange(999_999), strange(boss.userId), mixed]) {
      const answer = await accept(token);
      expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, ['token']]);
    }
    expect((await accept('1_secret')).body.errors.token[0]).toMatch(/invitation_token/);
    await service.pool.query('update invitations set expires_at = now() where user_id = $1', [user_id]);
    expect((await accept(invitation_token)).status).toBe(400);
  });

  it('is no way to the login of somebody without a password', async () => {
    const { body: made } = await service.http.post('/iam/clients/create', { company: 'Placeholder' });
    const { rows } = await service.pool.query('select email from users where client_id = $1', [made.id]);
    const { invitation_token } = await invite(boss, rows[0].email);
    expect((await accept(invitation_token)).body.errors.password).toBeDefined();
    const { rows: after } = await service.pool.query('select password_hash from users where client_id = $1', [made.id]);
    expect(after).toEqual([{ password_hash: null }]);
  });

  it('is once, also of many at once', async () => {
    const { invitation_token } = await invite(boss, anyEmail());
    const answers = await Promise.all([1, 2, 3].map(() => accept(invitation_token)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 400, 400]);
  });

  it('of one person to two accounts makes one user', async () => {
    const email = anyEmail();
    const other = await newPerson(service.http);
    const [first, second] = [await invite(boss, email), await invite(other, email)];
    const answers = await Promise.all([accept(first.invitation_token), accept(second.invitation_token)]);
    for (const [index, { status }] of answers.entries()) {
      // If two accept at the same moment, the second is asked to try again.
      if (status !== 200) {
        expect([400, 409]).toContain(status);
        const again = await accept([first, second][index]?.invitation_token ?? '');
        expect(again.status, again.text).toBe(200);
      }
    }
    const http = bearer(service.url, await logIn(service.anonymous, email));
    const { rows } = await service.pool.query(
      'select count(*)::int from users where email = $1 and deleted_at is null',
      [email],
    );
    expect(rows).toEqual([{ count: 1 }]);
    for (const { clientId } of [boss, other]) {
      expect((await http.get(`/iam/auth/jwt/clients/${clientId}/login`)).status).toBe(200);
    }
  });

  it('leads into no paused account', async () => {
    const host = await newPerson(service.http);
    const { invitation_token } = await invite(host, anyEmail());
    await service.pool.query(`update clients set status = 'paused' where id = $1`, [host.clientId]);
    expect((await accept(invitation_token)).status).toBe(400);
  });
});

describe('an invitation', () => {
  it('is changed and taken back like a place in the account', async () => {
    const { user_id, invitation_token } = await invite(boss, anyEmail(), { id: 5 });
    const path = member(boss, user_id);
    expect((await boss.http.put(path, { user_role: { id: 2 } })).status).toBe(204);
    expect((await boss.http.get(path)).body.user_role.id).toBe(2);
    expect((await boss.http.patch(`/iam/users/${user_id}`, { name: 'Jane' })).body.name).toBe('Jane');
    const email = await boss.http.patch(`/iam/users/${user_id}`, { email: anyEmail() });
    expect(email.body.errors.email[0]).toMatch(/invite the other address/);
    expect((await boss.http.delete(path)).body).toEqual({});
    expect((await boss.http.get(path)).status).toBe(404);
    expect((await accept(invitation_token)).status).toBe(400);
  });

  it('is renewed: the token so far is worth nothing', async () => {
    const email = anyEmail();
    const { user_id, invitation_token: first } = await invite(boss, email);
    const answer = await renew(boss.http, email.toUpperCase());
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(answer.body).toEqual({
      status: 'sent',
      invitations: [
        {
          user_id,
          client_id: boss.clientId,
          invitation_token: expect.stringMatching(/^invitation_/),
          invitation_expires: expect.stringMatching(/Z$/),
        },
      ],
    });
    expect((await accept(first)).status).toBe(400);
    expect((await accept(answer.body.invitations[0].invitation_token)).status).toBe(200);
    const late = await renew(boss.http, email);
    expect([late.status, late.body]).toEqual([400, { errors: { email: ['This user already activated.'] } }]);
    expect((await service.anonymous.post('/iam/auth/renew_invitation', { email })).status).toBe(401);
  });

  it('of another account is not there to be renewed, nor its users to be asked about', async () => {
    const email = anyEmail();
    await invite(boss, email);
    const stranger = await newPerson(service.http);
    const rival = await addReseller(service, 'Asking');
    for (const http of [stranger.http, rival.http]) {
      for (const address of [email, boss.email, anyEmail()]) {
        expect((await renew(http, address)).status).toBe(404);
        expect((await http.post('/iam/auth/reset_password', { email: address })).status).toBe(404);
      }
    }
  });

  it("is renewed by a reseller in all its clients' accounts", async () => {
    const reseller = await addReseller(service, 'Renewing');
    const email = anyEmail();
    const hosts = [await newPerson(reseller.http), await newPerson(reseller.http)];
    for (const host of hosts) await invite(host, email);
    await invite(boss, email);
    const { body } = await renew(reseller.http, email);
    expect(body.invitations.map((each: { client_id: number }) => each.client_id)).toEqual(
      hosts.map(({ clientId }) => clientId),
    );
  });

  it('leads nowhere once whoever made it has gone, has less rights or is blocked', async () => {
    const losses = [
      (host: Person, id: number) => host.http.delete(member(host, id)),
      (host: Person, id: number) => host.http.put(member(host, id), { user_role: { id: 2 } }),
      (host: Person, id: number) => host.http.patch(`/iam/users/${id}`, { is_active: false }),
    ];
    for (const lose of losses) {
      const host = await newPerson(service.http);
      const second = await newPerson(service.http);
      await joins(host, second, { id: 1 });
      const { body: pair } = await second.http.get(`/iam/auth/jwt/clients/${host.clientId}/login`);
      const http = bearer(service.url, pair);
      const { invitation_token } = await invite({ http, clientId: host.clientId }, anyEmail(), { id: 1 });
      expect((await lose(host, second.userId)).status).toBeLessThan(300);
      expect((await accept(invitation_token)).status).toBe(400);
    }
  });

  it('into a client leads nowhere once whoever made it resells no more', async () => {
    const reseller = await addReseller(service, 'Parting');
    const client = await newPerson(reseller.http);
    const desk = { http: reseller.http, clientId: reseller.clientId };
    const losses = [
      (id: number) => reseller.http.patch(`/iam/users/${id}`, { is_active: false }),
      (id: number) => reseller.http.put(`/iam/clients/${desk.clientId}/client-users/${id}`, { user_role: { id: 2 } }),
      (id: number) => reseller.http.delete(`/iam/clients/${desk.clientId}/client-users/${id}`),
    ];
    for (const lose of losses) {
      const email = anyEmail();
      const id = await comes(desk, email, { id: 1 });
      await service.pool.query('update users set reseller_id = $1 where id = $2', [reseller.resellerId, id]);
      const http = bearer(service.url, await logIn(service.anonymous, email));
      const { invitation_token } = await invite({ http, clientId: client.clientId }, anyEmail(), { id: 1 });
      const kept = await invite({ http: reseller.http, clientId: client.clientId }, anyEmail());
      expect((await lose(id)).status).toBeLessThan(300);
      expect((await accept(invitation_token)).status).toBe(400);
      expect((await accept(kept.invitation_token)).status).toBe(200);
    }
  });

  it('of a reseller leads nowhere once the client is another one’s', async () => {
    const reseller = await addReseller(service, 'Giving');
    const host = await newPerson(reseller.http);
    const { invitation_token } = await invite({ ...host, http: reseller.http }, anyEmail(), { id: 1 });
    expect((await service.http.patch(`/iam/clients/${host.clientId}`, { reseller: 1 })).status).toBe(200);
    expect((await accept(invitation_token)).status).toBe(400);
  });

  it('is forgotten after its time', async () => {
    const { user_id } = await invite(boss, anyEmail());
    const kept = await invite(boss, anyEmail());
    await service.pool.query(`update invitations set expires_at = now() - interval '31 days' where user_id = $1`, [
      user_id,
    ]);
    const database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 1);
    const now = new Date();
    const before = new Date(now.getTime() - 30 * 24 * 3_600_000);
    await database.transaction((tx) => forgetInvitations(tx, { now, madeBefore: before, expired: before }));
    await database.close();
    expect((await boss.http.get(member(boss, user_id))).status).toBe(404);
    expect((await boss.http.get(member(boss, kept.user_id))).status).toBe(200);
  });
});

describe('whoever holds an address', () => {
  it('that they only say is theirs comes into no account without the token of its owner', async () => {
    const squatter = await newPerson(service.http);
    const address = anyEmail();
    const moved = { new_email: address, password: PASSWORD };
    expect((await squatter.http.put(`/iam/users/${squatter.userId}/email`, moved)).status).toBe(200);
    await choosePassword(squatter);
    const { user_id } = await invite(boss, address);
    expect((await accept(strange(user_id), squatter.password)).status).toBe(400);
    expect((await squatter.http.get(`/iam/auth/jwt/clients/${boss.clientId}/login`)).status).toBe(403);
    const { body } = await squatter.http.get('/iam/users');
    expect(body.results.map((each: { client: number }) => each.client)).toEqual([squatter.clientId]);
  });
});

describe('asking for a new password for a user', () => {
  it('is for those who look after the user, and answers no secret', async () => {
    const userId = await comes(boss, anyEmail(), { id: 2 });
    const { body: user } = await boss.http.get(`/iam/users/${userId}`);
    const answer = await boss.http.post('/iam/auth/reset_password', { email: user.email });
    expect([answer.status, answer.body]).toEqual([200, { status: 'sent' }]);
    const { rows } = await service.pool.query(
      'select password_requested_at is not null as asked from users where id = $1',
      [userId],
    );
    expect(rows).toEqual([{ asked: true }]);
    await logIn(service.anonymous, user.email);
    expect((await boss.http.post('/iam/auth/reset_password', { email: 'x' })).status).toBe(400);
    expect((await service.anonymous.post('/iam/auth/reset_password', { email: user.email })).status).toBe(401);
  });
});

describe('a user whom a reseller makes for a client', () => {
  let reseller: TestReseller;
  let host: Person;
  const create = (http: HttpClient, body: object, clientId = host.clientId) =>
    http.post(`/iam/clients/${clientId}/client-users/create`, body);
  const body = (more: object = {}) => ({
    username: anyEmail(),
    password: PASSWORD,
    user_role: { id: 5 },
    ...more,
  });
  beforeAll(async () => {
    reseller = await addReseller(service, 'Making');
    host = await newPerson(reseller.http);
  });

  it.each([
    ['plain', { id: 5 }],
    ['in an object of its own', { user_role: { name: 'Engineers' } }],
  ])('logs in at once, with the role %s', async (_how, user_role) => {
    const request = body({ user_role, name: 'Made' });
    const answer = await create(reseller.http, request);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        name: 'Made',
        username: request.username,
        user_role: { id: 5, name: 'Engineers', user_role: { id: 5, name: 'Engineers' } },
      },
    ]);
    const http = bearer(service.url, await logIn(service.anonymous, request.username));
    expect((await http.get('/iam/clients/me')).body.id).toBe(host.clientId);
  });

  it('comes into no other account with the password that the reseller knows', async () => {
    const request = body();
    await create(reseller.http, request);
    const { invitation_token } = await invite(boss, request.username);
    expect((await accept(invitation_token)).body.errors.password[0]).toMatch(/Somebody else chose/);
  });

  it('is refused with an address that somebody has, a short password or an unknown role', async () => {
    for (const [wrong, field] of [
      [{ username: boss.email.toUpperCase() }, 'username'],
      [{ username: 'x@y' }, 'username'],
      [{ password: 'short' }, 'password'],
      [{ user_role: { id: 9 } }, 'user_role'],
    ] as const) {
      const answer = await create(reseller.http, body(wrong));
      expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [field]]);
    }
  });

  it('is for the reseller of that client alone', async () => {
    const rival = await addReseller(service, 'Rivalling');
    expect((await create(rival.http, body())).status).toBe(403);
    expect((await create(host.http, body())).status).toBe(403);
    expect((await create(service.anonymous, body())).status).toBe(401);
    expect((await create(reseller.http, body(), boss.clientId)).status).toBe(403);
  });
});
