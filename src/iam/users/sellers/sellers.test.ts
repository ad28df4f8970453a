import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHttpClient, SOON } from '../../../../test/support/http-client.ts';
import {
  anyEmail,
  bearer,
  claimsOf,
  comes,
  joins,
  logIn,
  newPerson,
  PASSWORD,
  type Person,
} from '../../../../test/support/logins.ts';
import { addReseller, asResellerOf, type TestReseller } from '../../../../test/support/reseller.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';
import { openDatabase } from '../../../db/database.ts';
import { forgetInvitations } from '../invitation-store.ts';

const SELLERS = '/iam/admin/sellers';

let service: TestService;
let reseller: TestReseller;
beforeAll(async () => {
  service = await borrowService();
  reseller = await addReseller(service, 'Bazaar');
});
afterAll(() => service?.stop());

async function invited(full_name = 'Sam Seller', more: object = {}, of = reseller) {
  const answer = await of.http.post(SELLERS, { email: anyEmail(), full_name, ...more });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const accept = (token: string, password = PASSWORD) =>
  service.anonymous.post('/iam/auth/accept_invitation', { token, password });

async function working(full_name?: string, of = reseller): Promise<Person> {
  const { id, email, invitation_token } = await invited(full_name, {}, of);
  const answer = await accept(invitation_token);
  expect([answer.status, answer.body]).toEqual([200, { user_id: id, client_id: of.clientId }]);
  const pair = await logIn(service.anonymous, email);
  return {
    userId: id,
    clientId: of.clientId,
    email,
    password: PASSWORD,
    pair,
    http: bearer(service.url, pair),
  };
}

describe('a new seller', () => {
  it('is invited for a day, and works with the rights of the reseller once they have a password', async () => {
    const made = await invited('Jo Trader', { phone: '+1 (202) 555-0123' });
    const { invitation_token, invitation_expires, ...seller } = made;
    expect(seller).toEqual({
      id: expect.any(Number),
      email: expect.any(String),
      full_name: 'Jo Trader',
      phone: '+1 (202) 555-0123',
      reseller_name: 'Bazaar',
      company: 'Bazaar',
      date_joined: expect.stringMatching(/Z$/),
      activated: false,
      deleted: false,
    });
    expect(Date.parse(invitation_expires) - Date.parse(seller.date_joined)).toBe(24 * 3_600_000);
    expect((await reseller.http.get(`${SELLERS}/${seller.id}`)).body).toEqual(seller);
    expect((await service.http.get(`${SELLERS}/${seller.id}`)).body).toEqual(seller);
    const { rows } = await service.pool.query('select kind from mails where receiver = $1', [seller.email]);
    expect(rows).toEqual([{ kind: 'invitation' }]);
    expect((await accept(invitation_token)).status).toBe(200);
    const pair = await logIn(service.anonymous, seller.email);
    expect(claimsOf(pair.access)).toMatchObject({ user_type: 'seller', client_id: reseller.clientId });
    const http = bearer(service.url, pair);
    expect((await http.get(`${SELLERS}/${seller.id}`)).body).toEqual({ ...seller, activated: true });
    expect((await http.get(`/iam/users/${seller.id}`)).body).toMatchObject({
      user_type: 'seller',
      reseller: reseller.resellerId,
      groups: [{ id: 1 }],
    });
    const client = (await http.post('/iam/clients/create', { company: 'Sold' })).body.id;
    const sold = await http.patch(`/iam/clients/${client}`, { seller: seller.id });
    expect(sold.body).toMatchObject({ seller: seller.id, resellers: reseller.resellerId });
    expect((await http.get('/iam/clients/me')).body.currentUser).toBe(seller.id);
  });

  it('comes no more after the day, until the invitation is renewed', async () => {
    const { id, email, invitation_token } = await invited();
    await service.pool.query(`update invitations set expires_at = now() where user_id = $1`, [id]);
    expect((await accept(invitation_token)).status).toBe(400);
    const begun = Date.now();
    const renewed = await reseller.http.post('/iam/auth/renew_invitation', { email });
    const expires = Date.parse(renewed.body.invitations[0].invitation_expires);
    expect((expires - begun) / 3_600_000).toBeCloseTo(24, 0);
    expect((await accept(renewed.body.invitations[0].invitation_token)).status).toBe(200);
    expect((await reseller.http.get(`${SELLERS}/${id}`)).body.activated).toBe(true);
  });

  it.each([
    [{ email: undefined }, 'email'],
    [{ full_name: undefined }, 'full_name'],
    [{ email: 'nobody' }, 'email'],
    [{ email: 'x@y' }, 'email'],
    [{ email: `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(30)}.com` }, 'email'],
    [{ full_name: ' ' }, 'full_name'],
    [{ full_name: 'x'.repeat(256) }, 'full_name'],
    [{ phone: 'CALL ME' }, 'phone'],
    [{ phone: '1'.repeat(31) }, 'phone'],
    [{ company_name: 'x' }, 'company_name'],
  ])('is not made of %j', async (wrong, field) => {
    const answer = await reseller.http.post(SELLERS, { email: anyEmail(), full_name: 'Sam', ...wrong });
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, [field]]);
  });

  it('has an address that nobody else has', async () => {
    const person = await newPerson(service.http);
    const { email } = await invited();
    for (const [taken, message] of [
      [person.email.toUpperCase(), /already exists/],
      [email, /already been invited/],
    ] as const) {
      const answer = await reseller.http.post(SELLERS, { email: taken, full_name: 'Sam' });
      expect([answer.status, answer.body.errors]).toEqual([400, { email: [expect.stringMatching(message)] }]);
    }
  });

  it('is nobody who has begun to log in meanwhile, and whom that would give the rights of the reseller', async () => {
    const { email, invitation_token } = await invited();
    const elsewhere = await service.http.post('/iam/users', { email, password: PASSWORD, company: 'Else' });
    expect(elsewhere.status, elsewhere.text).toBe(201);
    const answer = await accept(invitation_token);
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, ['token']]);
  });

  it('gets no token from an administrator of the account who has no rights of the reseller', async () => {
    const email = anyEmail();
    await comes({ http: reseller.http, clientId: reseller.clientId }, email, { id: 1 });
    const plain = bearer(service.url, await logIn(service.anonymous, email));
    const seller = await invited();
    expect((await plain.get('/iam/users?limit=1000')).text).toContain(seller.email);
    expect((await plain.post('/iam/auth/renew_invitation', { email: seller.email })).status).toBe(404);
    expect((await plain.get(SELLERS)).status).toBe(403);
    expect((await plain.post(SELLERS, { email: anyEmail(), full_name: 'Me' })).status).toBe(403);
    const member = `/iam/clients/${reseller.clientId}/client-users/${seller.id}`;
    expect((await plain.delete(member)).status).toBe(403);
    expect((await accept(seller.invitation_token)).status).toBe(200);
  });
});

describe('the sellers of a reseller', () => {
  let own: TestReseller;
  let ids: number[];
  beforeAll(async () => {
    own = await addReseller(service, 'Listing');
    ids = [
      (await invited('Ann Alpha', {}, own)).id,
      (await working('Bob 100%', own)).userId,
      (await invited('Cid', {}, own)).id,
    ];
    await own.http.delete(`${SELLERS}/${ids[2]}`);
  });

  const listed = async (query: string, http = own.http): Promise<number[]> => {
    const { status, body, text } = await http.get(`${SELLERS}?${query}`);
    expect(status, text).toBe(200);
    return body.map(({ id }: { id: number }) => id);
  };

  it.each([
    ['', [0, 1, 2]],
    ['full_name=alpha', [0]],
    ['full_name=100%25', [1]],
    ['email=someone', [0, 1, 2]],
    ['email=nobody', []],
    ['activated=true', [1]],
    ['activated=false', [0, 2]],
    ['deleted=true', [2]],
    ['deleted=false', [0, 1]],
    ['deleted=all', [0, 1, 2]],
    ['reseller_name=list', [0, 1, 2]],
    ['reseller_name=bazaar', []],
    ['ordering=-id', [2, 1, 0]],
    ['ordering=-full_name', [2, 1, 0]],
    ['ordering=deleted,-date_joined', [1, 0, 2]],
    ['ordering=-activated,email,id&deleted=true', [2]],
  ])('are filtered and ordered by %s', async (query, expected) => {
    expect(await listed(query)).toEqual(expected.map((index) => ids[index]));
  });

  it('are found by ID, and come in pages', async () => {
    expect(await listed(`id=${ids[1]}`)).toEqual([ids[1]]);
    expect(await listed(`id__in=${ids[0]},${ids[2]},1`)).toEqual([ids[0], ids[2]]);
    expect(await listed(`id__contains=${ids[2]}`)).toEqual([ids[2]]);
    const { body } = await own.http.get(`${SELLERS}?limit=1&offset=1&deleted=false`);
    expect(body).toMatchObject({
      count: 2,
      next: null,
      previous: `${SELLERS}?offset=0&limit=1&deleted=false&ordering=id`,
      results: [{ id: ids[1], full_name: 'Bob 100%' }],
    });
    expect(await listed('reseller_name=listing', service.http)).toEqual(ids);
    expect(await listed('reseller_name=listing', reseller.http)).toEqual([]);
  });

  it.each(['ordering=password', 'ordering=id,,email', 'id__in=1,x', 'id__contains=x', 'limit=0', 'colour=red'])(
    'are 400 for %s',
    async (query) => {
      expect((await own.http.get(`${SELLERS}?${query}`)).status).toBe(400);
    },
  );

  it('are out of reach for others', async () => {
    const plain = await newPerson(own.http);
    for (const [http, status] of [
      [reseller.http, 404],
      [plain.http, 403],
      [service.anonymous, 401],
    ] as const) {
      const one = `${SELLERS}/${ids[0]}`;
      expect((await http.get(one)).status).toBe(status);
      expect((await http.patch(one, { full_name: 'x' })).status).toBe(status);
      expect((await http.delete(one)).status).toBe(status);
    }
    for (const id of [999_999, plain.userId]) {
      expect((await own.http.get(`${SELLERS}/${id}`)).status).toBe(404);
      expect((await own.http.patch(`${SELLERS}/${id}`, { full_name: 'x' })).status).toBe(404);
      expect((await own.http.delete(`${SELLERS}/${id}`)).status).toBe(404);
    }
  });
});

describe('a seller', () => {
  it('is changed at a version, but for the address', async () => {
    const { userId, http, email } = await working();
    const one = `${SELLERS}/${userId}`;
    const etag = (await reseller.http.get(one)).headers.get('etag') ?? '';
    const read = (await reseller.http.get(one)).body;
    expect(read.phone).toBeNull();
    const same = await reseller.http.patch(one, read);
    expect([same.status, same.body]).toEqual([200, read]);
    const change = { ...read, full_name: 'Sam', phone: '+49 30' };
    const at = (headers: Record<string, string>) => reseller.http.request('PATCH', one, { body: change, headers });
    const changed = await at({ 'if-match': etag });
    expect([changed.status, changed.body]).toEqual([200, change]);
    expect((await at({ 'if-match': etag })).status).toBe(412);
    const moved = await reseller.http.patch(one, { email: anyEmail() });
    expect([moved.status, Object.keys(moved.body.errors)]).toEqual([400, ['email']]);
    const by = anyEmail();
    expect((await service.http.patch(one, { email: by })).body).toMatchObject({ email: by });
    expect((await http.patch(one, { full_name: 'Myself' })).body.full_name).toBe('Myself');
    expect((await logIn(service.anonymous, by)).access).toEqual(expect.any(String));
    expect(by).not.toBe(email);
  });

  it.each([
    { name: null, phone: '0123 EXT. 4567 890123456789012x' },
    { name: '', phone: '' },
    { name: 'x'.repeat(255), phone: null },
  ])('whom /iam/users gave %j can be sent back as read', async (profile) => {
    const { userId } = await working();
    const given = await reseller.http.patch(`/iam/users/${userId}`, profile);
    expect(given.status, given.text).toBe(200);
    const one = `${SELLERS}/${userId}`;
    const read = (await reseller.http.get(one)).body;
    const same = await reseller.http.patch(one, read);
    expect([same.status, same.body]).toEqual([200, read]);
  });

  it('who also belongs to another account is changed by nobody else, and stays there when deleted', async () => {
    const seller = await working();
    const host = await newPerson(service.http);
    await joins(host, seller);
    const one = `${SELLERS}/${seller.userId}`;
    expect((await reseller.http.patch(one, { full_name: 'x' })).status).toBe(403);
    expect((await reseller.http.delete(one)).status).toBe(204);
    expect((await reseller.http.get(one)).status).toBe(404);
    const http = bearer(service.url, await logIn(service.anonymous, seller.email, seller.password));
    expect((await http.get('/iam/clients/me')).body.id).toBe(host.clientId);
    expect((await http.get('/iam/clients')).status).toBe(403);
  });

  it('ends with the logins, and leaves the clients without a seller', async () => {
    const seller = await working();
    const client = (await reseller.http.post('/iam/clients/create', { company: 'Left' })).body.id;
    await reseller.http.patch(`/iam/clients/${client}`, { seller: seller.userId });
    const tokens = `/iam/v2/clients/${reseller.clientId}/tokens`;
    const body = { name: 'x', exp_date: null, client_user: { role: { id: 1 } } };
    const token = (await seller.http.post(tokens, body)).body;
    const program = createHttpClient(service.url, token.token);
    expect((await program.get('/iam/clients')).status).toBe(200);
    const one = `${SELLERS}/${seller.userId}`;
    expect((await reseller.http.delete(one)).status).toBe(403);
    expect((await seller.http.delete(`${tokens}/${token.id}`)).status).toBe(204);
    expect((await reseller.http.delete(one)).status).toBe(204);
    expect((await seller.http.get('/iam/clients/me')).status).toBe(401);
    expect((await reseller.http.get(`/iam/clients/${client}`)).body.seller).toBeNull();
    expect((await reseller.http.get(one)).body).toMatchObject({ activated: false, deleted: true });
    expect((await reseller.http.delete(one)).status).toBe(404);
    expect((await reseller.http.patch(one, { full_name: 'x' })).status).toBe(404);
    expect((await reseller.http.patch(`/iam/clients/${client}`, { seller: seller.userId })).status).toBe(400);
  });

  it.each([
    ['as a seller', () => SELLERS, 204],
    ['as a user', (by: TestReseller) => `/iam/clients/${by.clientId}/client-users`, 200],
  ])('goes %s without a deadlock with whoever changes a client of theirs', async (how, among, status) => {
    const { clientId: client } = await newPerson(service.http);
    const own = await addReseller(service, `Leaving ${how}`.replaceAll(' ', '-'));
    const { userId: seller } = await working(undefined, own);
    const given = await service.http.patch(`/iam/clients/${client}`, { reseller: own.resellerId, seller });
    expect([given.status, given.body.seller]).toEqual([200, seller]);
    const changing = await service.pool.connect();
    await changing.query('begin');
    await changing.query('select from clients where id = $1 for no key update', [client]);
    const leaving = own.http.delete(`${among(own)}/${seller}`);
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await vi.waitFor(async () => expect((await service.pool.query(waiting)).rowCount).toBe(1), SOON);
    // The change locks more: accounts with higher IDs, and the user.
    const more = async () => {
      await changing.query('select from clients where id = $1 for no key update nowait', [own.clientId]);
      await changing.query('select from users where id = $1 for share nowait', [seller]);
    };
    await more().finally(() => changing.query('rollback').then(() => changing.release()));
    expect((await leaving).status).toBe(status);
    expect((await own.http.get(`/iam/clients/${client}`)).body.seller).toBeNull();
  });

  it('is blocked and let in again as a user', async () => {
    const seller = await working();
    const block = (is_active: boolean) => reseller.http.patch(`/iam/users/${seller.userId}`, { is_active });
    expect((await block(false)).status).toBe(200);
    expect((await seller.http.get('/iam/clients')).status).toBe(401);
    await block(true);
    const http = bearer(service.url, await logIn(service.anonymous, seller.email));
    expect((await http.get('/iam/clients')).status).toBe(200);
  });

  it('who never came is nobody a client has when the invitation is withdrawn', async () => {
    const { id } = await invited();
    const client = (await reseller.http.post('/iam/clients/create', { company: 'Waiting' })).body.id;
    const given = await reseller.http.patch(`/iam/clients/${client}`, { seller: id });
    expect(given.body.seller).toBe(id);
    await service.pool.query(`update invitations set expires_at = '2020-01-01' where user_id = $1`, [id]);
    const database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 1);
    const now = new Date();
    const before = new Date('2020-06-01T00:00:00Z');
    await database.transaction((tx) => forgetInvitations(tx, { now, madeBefore: before, expired: before }));
    await database.close();
    expect((await reseller.http.get(`/iam/clients/${client}`)).body.seller).toBeNull();
    expect((await reseller.http.get(`${SELLERS}/${id}`)).body.deleted).toBe(true);
  });

  it('is not the one whom an operator gives a token of the reseller', async () => {
    const fresh = await addReseller(service, 'Fresh');
    const seller = await working('Only', fresh);
    await service.pool.query(
      `update users set reseller_id = null, email = 'former-' || email where client_id = $1 and not is_seller`,
      [fresh.clientId],
    );
    const http = await asResellerOf(service, fresh.clientId);
    expect((await http.get('/iam/clients')).status).toBe(200);
    expect((await http.get('/iam/clients/me')).body.currentUser).not.toBe(seller.userId);
  });

  it('may not leave the account without an administrator', async () => {
    const alone = await addReseller(service, 'Alone');
    const seller = await working('Last', alone);
    await service.pool.query(`update client_users set is_active = false where client_id = $1 and user_id <> $2`, [
      alone.clientId,
      seller.userId,
    ]);
    expect((await service.http.delete(`${SELLERS}/${seller.userId}`)).status).toBe(409);
  });
});
