import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpClient } from '../../../../test/support/http-client.ts';
import { bearer, logIn, newPerson } from '../../../../test/support/logins.ts';
import { addReseller } from '../../../../test/support/reseller.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const LOGINS = '/tradewind/v1/logins';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service?.stop());

it('a user sees their logins, the newest first, and ends one or all of them', async () => {
  const person = await newPerson(service.http);
  const [second, third] = [await logIn(service.anonymous, person.email), await logIn(service.anonymous, person.email)];
  const { body } = await person.http.get(LOGINS);
  expect(body).toMatchObject({
    count: 3,
    results: [false, false, true].map((current) => ({
      client_id: person.clientId,
      user_id: person.userId,
      made_by: person.userId,
      current,
    })),
  });
  expect((await person.http.get(`${LOGINS}?limit=1&offset=1`)).body.results).toEqual([body.results[1]]);
  const status = async (pair: typeof second) => (await bearer(service.url, pair).get('/iam/clients/me')).status;
  expect((await person.http.delete(`${LOGINS}/${body.results[1].id}`)).status).toBe(204);
  expect([await status(second), await status(third)]).toEqual([401, 200]);
  expect((await person.http.delete(`${LOGINS}/${body.results[1].id}`)).status).toBe(404);
  expect((await person.http.delete(LOGINS)).status).toBe(204);
  expect([await status(third), await status(person.pair)]).toEqual([401, 401]);
});

it('nobody sees or ends what is not theirs', async () => {
  const [one, other] = [await newPerson(service.http), await newPerson(service.http)];
  const [own] = (await one.http.get(LOGINS)).body.results;
  expect((await other.http.delete(`${LOGINS}/${own.id}`)).status).toBe(404);
  expect((await other.http.get(LOGINS)).body.count).toBe(1);
});

it('a token has the logins that were made with it, and whoever acts for a user has only that login', async () => {
  const reseller = await addReseller(service, 'Logins');
  const person = await newPerson(reseller.http);
  const acting = await reseller.http.get(`/iam/auth/jwt/users/${person.userId}/token`);
  expect(acting.status, acting.text).toBe(200);
  const asUser = createHttpClient(service.url, acting.body.access, 'Bearer');
  const [made] = (await asUser.get(LOGINS)).body.results;
  expect((await asUser.get(LOGINS)).body.count).toBe(1);
  expect(made).toMatchObject({ user_id: person.userId, current: true, token_id: expect.any(Number) });
  // The user sees who acts for them, and can end it.
  expect((await person.http.get(LOGINS)).body.results.map(({ id }: { id: number }) => id)).toContain(made.id);
  expect((await reseller.http.get(LOGINS)).body.results).toMatchObject([{ id: made.id, current: false }]);
  expect((await person.http.delete(`${LOGINS}/${made.id}`)).status).toBe(204);
  expect((await asUser.get(LOGINS)).status).toBe(401);
});
