import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient } from '../../../../test/support/http-client.ts';
import { bearer, comes, joins, logIn, newPerson, PASSWORD, type Person } from '../../../../test/support/logins.ts';
import { addReseller } from '../../../../test/support/reseller.ts';
import { addApp, codeAt } from '../../../../test/support/second-factors.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const SECOND = '/tradewind/v1/logins/second_factor';
const OWN = '/tradewind/v1/second_factors';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service?.stop());

const policyOf = (clientId: number) => `/tradewind/v1/clients/${clientId}/sign_in_policy`;
const givePassword = ({ email }: Pick<Person, 'email'>) =>
  service.anonymous.post('/iam/auth/jwt/login', { username: email, password: PASSWORD });

describe('an account that requires a second factor', () => {
  it('lets a user without one do nothing but add one, and then lets them in', async () => {
    const person = await newPerson(service.http);
    const policy = policyOf(person.clientId);
    expect((await person.http.get(policy)).body).toEqual({ second_factor: 'optional', roles: [] });
    const own = await person.http.put(policy, { second_factor: 'required' });
    expect([own.status, own.body.detail]).toEqual([409, expect.stringMatching(/your own login first/)]);
    const set = await service.http.put(policy, { second_factor: 'required' });
    expect([set.status, set.body]).toEqual([200, { second_factor: 'required', roles: [] }]);
    // A present login ends when it would be refreshed.
    const { refresh } = person.pair;
    expect((await service.anonymous.post('/iam/auth/jwt/refresh', { refresh })).status).toBe(401);

    const asked = await givePassword(person);
    expect([asked.status, asked.body]).toEqual([401, expect.objectContaining({ enrol: true, factors: [] })]);
    const { challenge } = asked.body;
    expect((await createHttpClient(service.url, challenge, 'Bearer').get('/iam/clients/me')).status).toBe(401);
    for (const shown of [{ code: '000000' }, { recovery_code: 'abcd-efgh-jkmn-pqrs' }]) {
      expect((await service.anonymous.post(SECOND, { challenge, ...shown })).status).toBe(400);
    }
    const app = await service.anonymous.post(`${SECOND}/enrol`, { challenge });
    expect(app.status, app.text).toBe(200);
    const pair = await service.anonymous.post(SECOND, { challenge, code: codeAt(app.body.uri, Date.now()) });
    expect(pair.status, pair.text).toBe(200);
    expect(pair.body.recovery_codes).toHaveLength(10);
    const http = bearer(service.url, pair.body);
    expect((await http.get(`/iam/users/${person.userId}`)).body.two_fa).toBe(true);
    const { body } = await http.get(OWN);
    expect(body).toMatchObject({ count: 1, recovery_codes: 10 });
    const last = await http.post(`${OWN}/${body.results[0].id}/remove`, { password: PASSWORD });
    expect([last.status, last.body.detail]).toEqual([409, expect.stringMatching(/requires a second factor/)]);
    expect((await http.put(policy, { second_factor: 'optional' })).status).toBe(200);
    expect((await http.post(`${OWN}/${body.results[0].id}/remove`, { password: PASSWORD })).status).toBe(204);
  });

  it('does not let a challenge to add one pass by a factor that was added since', async () => {
    const person = await newPerson(service.http);
    const policy = policyOf(person.clientId);
    await service.http.put(policy, { second_factor: 'required' });
    const { challenge } = (await givePassword(person)).body;
    const app = await service.anonymous.post(`${SECOND}/enrol`, { challenge });
    const other = (await givePassword(person)).body.challenge;
    const own = await service.anonymous.post(`${SECOND}/enrol`, { challenge: other });
    const code = codeAt(own.body.uri, Date.now());
    expect((await service.anonymous.post(SECOND, { challenge: other, code })).status).toBe(200);
    const late = { challenge, code: codeAt(app.body.uri, Date.now()) };
    expect((await service.anonymous.post(SECOND, late)).status).toBe(401);
    expect((await service.anonymous.post(`${SECOND}/enrol`, { challenge })).status).toBe(401);
  });

  it('may require it of some roles only, and concerns no tokens and nobody who acts for a user', async () => {
    const reseller = await addReseller(service, 'Policy');
    const person = await newPerson(reseller.http);
    const token = await person.http.post(`/iam/v2/clients/${person.clientId}/tokens`, {
      name: 'x',
      exp_date: null,
      client_user: { role: { id: 1 } },
    });
    const http = createHttpClient(service.url, token.body.token);
    const email = `engineer-of-${person.email}`;
    const engineer = await comes(person, email, { id: 5 });
    const policy = policyOf(person.clientId);
    const set = await reseller.http.put(policy, { second_factor: 'required', roles: ['Administrators'] });
    expect(set.body).toEqual({ second_factor: 'required', roles: ['Administrators'] });
    await logIn(service.anonymous, email);
    expect((await givePassword(person)).status).toBe(401);
    expect((await http.get('/iam/clients/me')).status).toBe(200);
    expect((await http.get(`/iam/auth/jwt/clients/${person.clientId}/login`)).status).toBe(200);
    const acting = await reseller.http.get(`/iam/auth/jwt/users/${person.userId}/token`);
    expect(acting.status).toBe(200);
    const { refresh } = acting.body;
    expect((await service.anonymous.post('/iam/auth/jwt/refresh', { refresh })).status).toBe(200);
    // A new role concerns whoever gets it.
    await http.put(`/iam/clients/${person.clientId}/client-users/${engineer}`, { user_role: { id: 1 } });
    expect((await givePassword({ email })).body.enrol).toBe(true);
  });

  it('is not entered from another account without one', async () => {
    const [host, person] = [await newPerson(service.http), await newPerson(service.http)];
    await joins(host, person);
    await service.http.put(policyOf(host.clientId), { second_factor: 'required' });
    const enter = () => person.http.get(`/iam/auth/jwt/clients/${host.clientId}/login`);
    const refused = await enter();
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringMatching(/requires a second factor/)]);
  });

  it('says so itself, or its reseller does; nobody else', async () => {
    const [person, stranger] = [await newPerson(service.http), await newPerson(service.http)];
    const reseller = await addReseller(service, 'Strange');
    const email = `user-of-${person.email}`;
    await comes(person, email, { id: 2 });
    const member = bearer(service.url, await logIn(service.anonymous, email));
    const policy = policyOf(person.clientId);
    expect((await member.get(policy)).status).toBe(200);
    for (const http of [member, stranger.http, reseller.http]) {
      expect((await http.put(policy, { second_factor: 'required' })).status).toBe(403);
    }
    expect([(await stranger.http.get(policy)).status, (await reseller.http.get(policy)).status]).toEqual([403, 403]);
    const wrong = [{}, { second_factor: 'maybe' }, { second_factor: 'required', roles: ['Nobody'] }];
    for (const body of wrong) expect((await person.http.put(policy, body)).status).toBe(400);
  });
});

describe('second factors that are lost', () => {
  const path = (userId: number) => `/tradewind/v1/users/${userId}/second_factors`;

  it('are removed by an administrator of the account, who ends the logins; the user is told', async () => {
    const host = await newPerson(service.http);
    const email = `lost-${host.email}`;
    const userId = await comes(host, email, { id: 5 });
    const http = bearer(service.url, await logIn(service.anonymous, email));
    await addApp({ http });
    expect((await givePassword({ email })).status).toBe(401);
    expect((await http.delete(path(host.userId))).status).toBe(403);
    const own = await host.http.delete(path(host.userId));
    expect([own.status, own.body.detail]).toEqual([403, expect.stringMatching(/one by one/)]);
    expect((await host.http.delete(path(userId))).status).toBe(204);
    expect((await http.get('/iam/clients/me')).status).toBe(401);
    await logIn(service.anonymous, email);
    const { rows } = await service.pool.query(`select kind from mails where receiver = $1 and kind = 'second_factor'`, [
      email,
    ]);
    expect(rows).toHaveLength(2);
    const audit = await host.http.get(`/tradewind/v1/audit?limit=1&type=tradewind.user.second_factors_reset`);
    expect(audit.body.records).toMatchObject([{ subject: `user/${userId}`, outcome: 'accepted' }]);
  });

  it('stay if the user belongs to other accounts too, and for strangers', async () => {
    const [host, guest, stranger] = [
      await newPerson(service.http),
      await newPerson(service.http),
      await newPerson(service.http),
    ];
    await addApp(guest);
    await joins(host, guest);
    const refused = await host.http.delete(path(guest.userId));
    expect([refused.status, refused.body.detail]).toEqual([403, expect.stringMatching(/other accounts/)]);
    expect((await stranger.http.delete(path(guest.userId))).status).toBe(404);
    expect((await service.http.delete(path(guest.userId))).status).toBe(204);
  });
});
