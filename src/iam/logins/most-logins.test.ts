import { afterAll, beforeAll, expect, it } from 'vitest';
import { bearer, claimsOf, logIn, newPerson } from '../../../test/support/logins.ts';
import { borrowService, type TestService } from '../../../test/support/service.ts';
import { MOST_LOGINS } from './pairs.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service?.stop());

it('a login too many ends the one that was not refreshed for the longest time, not the first or the new one', async () => {
  const { pair, email, userId } = await newPerson(service.http);
  const first = claimsOf(pair.access).sid;
  const { rows } = await service.pool.query<{ id: number }>(
    `insert into login_sessions (family, user_id, client_id, maker_id, role_id, refresh_id, created_at, expires_at)
     select gen_random_uuid(), user_id, client_id, maker_id, role_id, gen_random_uuid(), created_at,
       expires_at - n * interval '1 second'
     from login_sessions, generate_series(1, $2::integer) as n where id = $1 returning id`,
    [first, MOST_LOGINS - 1],
  );
  const refreshed = await service.anonymous.post('/iam/auth/jwt/refresh', { refresh: pair.refresh });
  expect(refreshed.status, refreshed.text).toBe(200);
  const latest = await logIn(service.anonymous, email);
  const left = await service.pool.query<{ id: number }>(
    'select id from login_sessions where user_id = $1 order by id',
    [userId],
  );
  const others = rows.map(({ id }) => Number(id)).sort((one, other) => one - other);
  // The last of them expires first.
  const kept = [first, ...others.slice(0, -1), claimsOf(latest.access).sid];
  expect(left.rows.map(({ id }) => Number(id))).toEqual(kept);
  expect((await bearer(service.url, refreshed.body).get('/iam/clients/me')).status).toBe(200);
});
