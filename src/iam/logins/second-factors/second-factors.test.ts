import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../../../../test/support/http-client.ts';
import { bearer, choosePassword, logIn, newPerson, PASSWORD, type Person } from '../../../../test/support/logins.ts';
import { addReseller } from '../../../../test/support/reseller.ts';
import { addApp, codeAt } from '../../../../test/support/second-factors.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const LOGIN = '/iam/auth/jwt/login';
const SECOND = '/tradewind/v1/logins/second_factor';
const OWN = '/tradewind/v1/second_factors';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service?.stop());

/** An app that makes codes. Each call makes a code of a later step: none of them was used. */
interface App {
  next(): Promise<string>;
  last(): string;
}

async function advance(seconds: number): Promise<number> {
  const { body } = await service.http.post('/tradewind/v1/test/clock', { advance_s: seconds });
  return Date.parse(body.at);
}

async function withApp(): Promise<{ person: Person; app: App; codes: string[]; secret: string }> {
  const person = await newPerson(service.http);
  const now = await advance(0);
  const { uri, codes, secret } = await addApp(person, now);
  return { person, app: appOf(uri, codeAt(uri, now)), codes, secret };
}

function appOf(uri: string, first = ''): App {
  let last = first;
  return {
    async next() {
      last = codeAt(uri, await advance(31));
      return last;
    },
    last: () => last,
  };
}

const givePassword = (person: Person, more: object = {}) =>
  service.anonymous.post(LOGIN, { username: person.email, password: person.password, ...more });

async function challengeOf(person: Person): Promise<string> {
  const answer = await givePassword(person);
  expect(answer.status, answer.text).toBe(401);
  return answer.body.challenge;
}

const answer = (body: object) => service.anonymous.post(SECOND, body);

describe('an app that makes codes', () => {
  it('is a second factor from its first code, and the password alone no longer logs in', async () => {
    const person = await newPerson(service.http);
    const { body, status, headers } = await person.http.post(`${OWN}/totp`, { password: PASSWORD });
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(body).toEqual({
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      uri: expect.stringContaining(encodeURIComponent(person.email)),
    });
    const me = async () => (await person.http.get(`/iam/users/${person.userId}`)).body.two_fa;
    expect([await me(), (await person.http.get(OWN)).body.count]).toEqual([false, 0]);
    await logIn(service.anonymous, person.email);
    const app = appOf(body.uri);
    const wrong = await person.http.post(`${OWN}/totp/confirm`, { code: '000000' });
    expect([wrong.status, wrong.body.errors[0].field]).toEqual([400, 'code']);
    const confirmed = await person.http.post(`${OWN}/totp/confirm`, { code: await app.next() });
    expect(confirmed.body).toMatchObject({ kind: 'totp', name: 'App', recovery_codes: { length: 10 } });
    expect(await me()).toBe(true);
    const attempts = async () => (await person.http.get('/iam/activity_log/logins')).body;
    const before = await attempts();

    const refused = await givePassword(person);
    expect([refused.status, refused.body]).toEqual([
      401,
      {
        message: 'A second factor is needed',
        hint: expect.any(String),
        challenge: expect.stringMatching(/^challenge_/),
        expires_at: expect.any(String),
        factors: ['totp', 'recovery_code'],
        enrol: false,
      },
    ]);
    const pair = await answer({ challenge: refused.body.challenge, code: await app.next() });
    expect(pair.status, pair.text).toBe(200);
    expect(Object.keys(pair.body).sort()).toEqual(['access', 'refresh']);
    expect((await bearer(service.url, pair.body).get('/iam/clients/me')).status).toBe(200);
    // The password alone was no success.
    const after = await attempts();
    expect(after.count).toBe(before.count + 1);
    expect(after.result[0]).toMatchObject({ auth_type: 'totp', is_successful: true, username: person.email });
  });

  it('logs in with one request, too, if the code comes with the password', async () => {
    const { person, app, codes } = await withApp();
    expect((await givePassword(person, { one_time_password: await app.next() })).status).toBe(200);
    expect((await givePassword(person, { one_time_password: codes[0] })).status).toBe(200);
    const wrong = await givePassword(person, { one_time_password: '000000' });
    expect([wrong.status, wrong.body.errors]).toEqual([400, { code: [expect.stringMatching(/Wrong code/)] }]);
    expect((await givePassword({ ...person, password: 'wrong' }, { one_time_password: '000000' })).body.errors).toEqual(
      {
        errors: [expect.stringMatching(/No active account/)],
      },
    );
  });

  it('is accepted once: not again, not an earlier one, and only one of two at once', async () => {
    const { person, app } = await withApp();
    const used = app.last();
    expect((await answer({ challenge: await challengeOf(person), code: used })).status).toBe(400);
    const code = await app.next();
    const challenges = [await challengeOf(person), await challengeOf(person)];
    const both = await Promise.all(challenges.map((challenge) => answer({ challenge, code })));
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
    expect((await answer({ challenge: await challengeOf(person), code })).status).toBe(400);
    expect((await answer({ challenge: await challengeOf(person), code: used })).status).toBe(400);
  });

  it('of another user lets nobody in', async () => {
    const [one, other] = [await withApp(), await withApp()];
    const challenge = await challengeOf(one.person);
    expect((await answer({ challenge, code: await other.app.next() })).status).toBe(400);
    expect((await answer({ challenge, recovery_code: other.codes[0] })).status).toBe(400);
    const [factor] = (await other.person.http.get(OWN)).body.results;
    const path = `${OWN}/${factor.id}/remove`;
    expect((await one.person.http.post(path, { password: PASSWORD })).status).toBe(404);
  });

  it('stays through a new password, and goes only with the password or a new code', async () => {
    const { person, app } = await withApp();
    await choosePassword(person);
    const challenge = await challengeOf(person);
    const [factor] = (await person.http.get(OWN)).body.results;
    expect(factor).toMatchObject({ kind: 'totp', name: 'Phone', last_used_at: expect.any(String) });
    const path = `${OWN}/${factor.id}/remove`;
    const problems = [{}, { password: 'wrong' }, { code: app.last() }, { password: 'a', code: '123456' }];
    for (const body of problems) expect((await person.http.post(path, body)).status).toBe(400);
    expect((await person.http.post(`${OWN}/totp`, { password: person.password })).status).toBe(409);
    expect((await person.http.post(path, { code: await app.next() })).status).toBe(204);
    expect((await person.http.get(OWN)).body).toMatchObject({ count: 0, recovery_codes: 0 });
    expect((await answer({ challenge, code: await app.next() })).status).toBe(401);
    await logIn(service.anonymous, person.email, person.password);
    expect((await person.http.post(`${OWN}/recovery_codes`, { password: person.password })).status).toBe(409);
  });

  it('keeps its secret encrypted', async () => {
    const { person, secret } = await withApp();
    const { rows } = await service.pool.query('select secret from second_factors where user_id = $1', [person.userId]);
    expect(rows).toHaveLength(1);
    expect(rows[0].secret).not.toContain(secret);
  });
});

describe('a recovery code', () => {
  it('works once, in any letter case, and no longer when there are new ones', async () => {
    const { person, codes } = await withApp();
    const [first = '', second = '', third = ''] = codes;
    const spelled = first.toUpperCase().replaceAll('-', ' ');
    expect((await answer({ challenge: await challengeOf(person), recovery_code: spelled })).status).toBe(200);
    expect((await answer({ challenge: await challengeOf(person), recovery_code: first })).status).toBe(400);
    const both = [await challengeOf(person), await challengeOf(person)];
    const answers = await Promise.all(both.map((challenge) => answer({ challenge, recovery_code: second })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
    expect((await person.http.get(OWN)).body.recovery_codes).toBe(8);
    const renewed = await person.http.post(`${OWN}/recovery_codes`, { password: PASSWORD });
    expect(renewed.body.recovery_codes).toHaveLength(10);
    expect((await answer({ challenge: await challengeOf(person), recovery_code: third })).status).toBe(400);
    const [fresh] = renewed.body.recovery_codes;
    expect((await answer({ challenge: await challengeOf(person), recovery_code: fresh })).status).toBe(200);
    const { rows } = await service.pool.query('select * from recovery_codes where user_id = $1', [person.userId]);
    expect(JSON.stringify(rows)).not.toContain(fresh);
  });
});

describe('a challenge', () => {
  it('works once, for five minutes, and not with another password', async () => {
    const { person, app, codes } = await withApp();
    const used = await challengeOf(person);
    expect((await answer({ challenge: used, code: '000000' })).status).toBe(400);
    expect((await answer({ challenge: used, code: await app.next() })).status).toBe(200);
    const again = await answer({ challenge: used, code: await app.next() });
    expect([again.status, again.body.detail]).toEqual([401, expect.stringMatching(/was used/)]);

    const late = await challengeOf(person);
    await service.http.post('/tradewind/v1/test/clock', { advance_s: 301 });
    expect((await answer({ challenge: late, code: await app.next() })).status).toBe(401);

    const challenge = await challengeOf(person);
    const shown = [{ code: await app.next() }, { recovery_code: codes[0] }, { recovery_code: codes[1] }];
    const answers = await Promise.all(shown.map((one) => answer({ challenge, ...one })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);

    person.pair = (await givePassword(person, { one_time_password: await app.next() })).body;
    person.http = bearer(service.url, person.pair);
    const before = await challengeOf(person);
    await choosePassword(person);
    expect((await answer({ challenge: before, code: await app.next() })).status).toBe(401);
  });

  it('can be neither forged, nor given to another user, nor used as a token', async () => {
    const [one, other] = [await withApp(), await withApp()];
    const challenge = await challengeOf(one.person);
    const [, , secret = ''] = challenge.split('_');
    const forged = [
      `challenge_${other.person.userId}_${secret}`,
      `challenge_${one.person.userId}_${'0'.repeat(64)}`,
      one.person.pair.access,
      '',
    ];
    for (const text of forged) {
      const { status } = await answer({ challenge: text, code: await one.app.next() });
      expect([400, 401]).toContain(status);
    }
    for (const scheme of ['Bearer', 'apikey'] as const) {
      const http = createHttpClient(service.url, challenge, scheme);
      expect((await http.get('/iam/clients/me')).status).toBe(401);
    }
    expect((await service.anonymous.post('/iam/auth/jwt/refresh', { refresh: challenge })).status).toBe(401);
    const both = await answer({ challenge, code: '000000', recovery_code: one.codes[0] });
    expect(both.status).toBe(400);
    expect((await answer({ challenge })).status).toBe(400);
  });

  it('is given to nobody who guesses, and five wrong codes lock the password, too', async () => {
    const { person, app } = await withApp();
    const statuses = [];
    for (let n = 0; n < 5; n++) {
      // The right password in between gives no new guesses.
      const challenge = await challengeOf(person);
      statuses.push((await answer({ challenge, code: '000000' })).status);
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400]);
    const attempts = await person.http.get('/iam/activity_log/logins?limit=1');
    expect(attempts.body.result).toMatchObject([{ auth_type: 'totp', is_successful: false }]);
    const right = await givePassword(person);
    const wrong = await givePassword({ ...person, password: 'wrong' });
    for (const refused of [right, wrong]) {
      expect([refused.status, refused.body]).toEqual([429, { message: expect.stringMatching(/wrong too often/) }]);
    }
    const pending = await service.pool.query('select count(*) from sign_in_challenges where user_id = $1', [
      person.userId,
    ]);
    expect(Number(pending.rows[0].count)).toBe(5);
    expect((await person.http.post(`${OWN}/recovery_codes`, { code: await app.next() })).status).toBe(429);
    await service.pool.query('delete from login_limits');
  });

  it('is not left open for those who know the password and an invitation', async () => {
    const { person } = await withApp();
    await choosePassword(person);
    const host = await newPerson(service.http);
    const { body } = await host.http.post('/iam/clients/invite_user', {
      email: person.email,
      user_role: { id: 2 },
      client_id: host.clientId,
    });
    for (let n = 0; n < 4; n++) await answer({ challenge: await challengeOf(person), code: '000000' });
    const joined = { token: body.invitation_token, password: person.password };
    expect((await service.anonymous.post('/iam/auth/accept_invitation', joined)).status).toBe(200);
    expect((await answer({ challenge: await challengeOf(person), code: '000000' })).status).toBe(400);
    expect((await givePassword(person)).status).toBe(429);
    await service.pool.query('delete from login_limits');
  });
});

it('nobody but the user in person sees or changes second factors', async () => {
  const reseller = await addReseller(service, 'Factors');
  const person = await newPerson(reseller.http);
  const acting = await reseller.http.get(`/iam/auth/jwt/users/${person.userId}/token`);
  const token = await person.http.post(`/iam/v2/clients/${person.clientId}/tokens`, {
    name: 'x',
    exp_date: null,
    client_user: { role: { id: 1 } },
  });
  const derived = createHttpClient(service.url, token.body.token);
  const { body } = await derived.get(`/iam/auth/jwt/clients/${person.clientId}/login`);
  const others: HttpClient[] = [bearer(service.url, acting.body), derived, bearer(service.url, body)];
  const proof = { password: PASSWORD };
  for (const http of others) {
    const answers = [
      await http.get(OWN),
      await http.post(`${OWN}/totp`, proof),
      await http.post(`${OWN}/totp/confirm`, { code: '123456' }),
      await http.post(`${OWN}/passkey_options`, proof),
      await http.post(`${OWN}/recovery_codes`, proof),
      await http.post(`${OWN}/00000000-0000-7000-8000-000000000000/remove`, proof),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
  }
  const { person: own } = await withApp();
  // Tokens and those who act for the user need no second factor.
  expect((await service.http.get(`/iam/auth/jwt/users/${own.userId}/token`)).status).toBe(200);
});
