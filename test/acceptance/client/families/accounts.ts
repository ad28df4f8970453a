import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { refusal, type Walk } from '../client.ts';

interface Made {
  id: number;
}

interface User extends Made {
  email: string;
  client: number;
}

interface Token extends Made {
  token: string;
}

interface Service extends Made {
  name: string;
}

interface Invited {
  user_id: number;
  invitation_token: string;
}

interface Pair {
  access: string;
  refresh: string;
}

const anyEmail = () => `walk-${randomBytes(4).toString('hex')}@example.com`;
const PASSWORD = 'many small green apples';

export function describeAccounts({ client, as }: Walk): void {
  it('makes API tokens, whose parts are joined by $ in version 1', async () => {
    const TOKENS = '/iam/clients/1/tokens';
    const role = { name: 'Engineers' };
    const made = await client.post<Token>(TOKENS, { name: 'walk', exp_date: null, client_user: { role } });
    expect(made.token.startsWith(`${made.id}$`)).toBe(true);
    expect(await client.get(`${TOKENS}/${made.id}`)).not.toHaveProperty('token');
    expect(await client.get(TOKENS, { role: 'Engineers', deleted: false })).toMatchObject([{ id: made.id }]);
    expect(await as(made.token).get('/iam/clients/me')).toMatchObject({ id: 1 });
    await client.silent('DELETE', `${TOKENS}/${made.id}`);
    await expect(as(made.token).get('/iam/clients/me')).rejects.toMatchObject(refusal(401));
  });

  describe('clients and their features', () => {
    let id: number;

    it('makes a client, lists it bare and by page, and changes it', async () => {
      id = (await client.post<Made>('/iam/clients/create', { company: 'Walk Ltd' })).id;
      const bare = await client.get<Made[]>('/iam/clients', { companyName: 'Walk', ordering: '-id' });
      expect(bare.map((one) => one.id)).toEqual([id]);
      const page = await client.list<Made>('/iam/clients', { limit: 1, ordering: '-id' });
      expect(page.map((one) => one.id)).toEqual([id]);
      expect(await client.patch(`/iam/clients/${id}`, { custom_id: 'W-1', phone: null })).toMatchObject({
        custom_id: 'W-1',
      });
      const read = await client.get(`/iam/clients/${id}`);
      expect(read).toMatchObject({ id, custom_id: 'W-1', resellers: 1 });
      expect(read).not.toHaveProperty('phone');
    });

    it('switches a service of the client off and on, and makes it a user', async () => {
      const SERVICES = `/iam/clients/${id}/services`;
      const cloud = (await client.get<Service[]>(SERVICES)).find(({ name }) => name === 'CLOUD');
      const one = `${SERVICES}/${cloud?.id}`;
      expect(await client.put(one, { status: 'paused' })).toMatchObject({ previous_status: 'active' });
      expect(await client.patch(one, { ...cloud, status: 'active' })).toMatchObject({ enabled: true });
      expect(await client.get(one)).toMatchObject({ name: 'CLOUD', status: 'active' });
      const username = anyEmail();
      const user = { username, password: PASSWORD, user_role: { id: 5, name: 'Engineers' } };
      expect(await client.post(`/iam/clients/${id}/client-users/create`, user)).toMatchObject({ username });
    });

    it('reads what was done, and what became of accounts', async () => {
      const REQUESTS = '/iam/activity_log/requests';
      const { result } = await client.get<{ result: Made[] }>(REQUESTS, { limit: 1 });
      expect(await client.get(`${REQUESTS}/${result[0]?.id}`)).toEqual(result[0]);
      expect(await client.get('/iam/activity_log/account_status_changes')).toMatchObject({ count: 0 });
    });

    it.each([
      ['paid', 5],
      ['free', 6],
    ])('switches a %s feature on and off', async (kind, feature_id) => {
      const features = await client.get<Made[]>('/iam/admin/feature');
      expect(await client.get(`/iam/admin/feature/${feature_id}`)).toEqual(
        features.find((one) => one.id === feature_id),
      );
      const ACTIVATED = `/iam/admin/${kind}_features`;
      const made = await client.post<Made>(ACTIVATED, { client_id: id, feature_id });
      expect(await client.get<Made[]>(ACTIVATED)).toContainEqual(made);
      expect(await client.get(`${ACTIVATED}/${made.id}`)).toEqual(made);
      await client.silent('DELETE', `${ACTIVATED}/${made.id}`);
      await expect(client.get(`${ACTIVATED}/${made.id}`)).rejects.toMatchObject(refusal(404));
    });
  });

  describe('users and logins', () => {
    let user: User;
    let pair: Pair;

    it('makes a user with an account, who logs in and goes on', async () => {
      const email = anyEmail();
      user = await client.post<User>('/iam/users', {
        email,
        password: PASSWORD,
        company: 'Walkers',
        name: 'Wanda',
      });
      const first = await client.post<Pair>('/iam/auth/jwt/login', { username: email, password: PASSWORD });
      pair = await client.post<Pair>('/iam/auth/jwt/refresh', { refresh: first.refresh });
      expect(await as(pair.access, 'Bearer').get('/iam/clients/me')).toMatchObject({
        id: user.client,
        currentUser: user.id,
      });
      await expect(client.post('/iam/auth/jwt/login', { username: email, password: 'wrong' })).rejects.toMatchObject(
        refusal(400),
      );
    });

    it('changes its own address and password', async () => {
      const own = as(pair.access, 'Bearer');
      const new_email = anyEmail();
      expect(await own.put(`/iam/users/${user.id}/email`, { new_email, password: PASSWORD })).toEqual({
        new_email,
      });
      const changed = { old: PASSWORD, new: `${PASSWORD} two`, double: `${PASSWORD} two` };
      pair = await own.put<Pair>(`/iam/users/${user.id}/password`, changed);
      const after = as(pair.access, 'Bearer');
      expect(await after.get(`/iam/auth/jwt/clients/${user.client}/login`)).toMatchObject({
        access: expect.any(String),
      });
      const attempts = await after.get<{ count: number; result: object[] }>('/iam/activity_log/logins', {
        limit: 10,
      });
      expect(attempts.result.length).toBeGreaterThan(0);
      expect(await client.post('/iam/auth/password/forgot', { email: new_email })).toEqual({
        status: 'sent',
      });
    });

    it('is entered by its reseller', async () => {
      for (const at of [`clients/${user.client}/admin_token`, `users/${user.id}/token`]) {
        const { access } = await client.get<Pair>(`/iam/auth/jwt/${at}`);
        expect(await as(access, 'Bearer').get('/iam/clients/me')).toMatchObject({ id: user.client });
      }
    });

    it('invites a user, who accepts, and changes the role of the account', async () => {
      const email = anyEmail();
      const role = { id: 5, name: 'Engineers' };
      const invited = await client.post<Invited>('/iam/clients/invite_user', {
        email,
        user_role: role,
        client_id: 1,
        lang: 'en',
      });
      const id = invited.user_id;
      const member = `/iam/clients/1/client-users/${id}`;
      expect(await client.get(member)).toEqual({ user_role: role });
      await client.silent('PUT', member, { user_role: { id: 2, name: 'Users' } });
      expect(await client.get(member)).toMatchObject({ user_role: { id: 2 } });
      const renewed = await client.post<{ invitations: Invited[] }>('/iam/auth/renew_invitation', { email });
      const [invitation] = renewed.invitations;
      await client.post('/iam/auth/accept_invitation', {
        token: invitation?.invitation_token,
        password: PASSWORD,
      });
      expect(await client.get(`/iam/users/${id}`)).toMatchObject({ activated: true });
      expect(await client.post('/iam/auth/reset_password', { email })).toEqual({ status: 'sent' });
      await client.delete(member);
      await expect(client.get(member)).rejects.toMatchObject(refusal(404));
    });

    it('is deleted by its reseller when somebody else is left to administer the account', async () => {
      const invite = { email: anyEmail(), user_role: { id: 1 }, client_id: user.client };
      const { invitation_token: token } = await client.post<Invited>('/iam/clients/invite_user', invite);
      await client.post('/iam/auth/accept_invitation', { token, password: PASSWORD });
      await client.delete(`/iam/users/${user.id}`);
      await expect(client.get(`/iam/users/${user.id}`)).rejects.toMatchObject(refusal(404));
    });
  });

  it('sellers: invites one, who looks after a client, and changes, lists and deletes them', async () => {
    const SELLERS = '/iam/admin/sellers';
    const email = anyEmail();
    const made = await client.post<Made & Invited>(SELLERS, { email, full_name: 'Sam Seller' });
    const token = made.invitation_token;
    const one = `${SELLERS}/${made.id}`;
    expect(await client.get(one)).toMatchObject({ email, full_name: 'Sam Seller', activated: false });
    await client.post('/iam/auth/accept_invitation', { token, password: PASSWORD });
    expect(await client.patch(one, { full_name: 'Sam' })).toMatchObject({
      full_name: 'Sam',
      activated: true,
    });
    expect(await client.list(SELLERS, { limit: 1, email })).toMatchObject([{ id: made.id }]);
    const { id } = await client.post<Made>('/iam/clients/create', { company: 'Theirs' });
    await client.patch(`/iam/clients/${id}`, { seller: made.id });
    await client.silent('DELETE', one);
    expect(await client.get(one)).toMatchObject({ deleted: true });
  });

  it('products: lets a client have one no longer once it is paused, and again by default', async () => {
    const { id } = await client.post<Made>('/iam/clients/create', { company: 'Choosing' });
    const services = await client.get<Service[]>(`/iam/clients/${id}/services`);
    const streaming = services.find(({ name }) => name === 'STREAMING')?.id;
    const PRODUCTS = '/iam/products/availability';
    const change = { product_name: 'STREAMING', available: false };
    await expect(client.patch(`${PRODUCTS}/clients/${id}`, change)).rejects.toMatchObject(refusal(403));
    await client.put(`/iam/clients/${id}/services/${streaming}`, { status: 'paused' });
    expect(await client.patch(`${PRODUCTS}/clients/${id}`, change)).toEqual(change);
    expect(await client.get(`${PRODUCTS}/clients/${id}`)).toContainEqual(change);
    const names = { product_names: ['STREAMING'] };
    await client.silent('DELETE', `${PRODUCTS}/clients/${id}`, names);
    expect(await client.get(`${PRODUCTS}/clients/${id}`)).toEqual(await client.get(`${PRODUCTS}/defaults`));
    const same = { ...change, available: true };
    expect(await client.patch(`${PRODUCTS}/defaults`, same)).toEqual(same);
    await client.silent('DELETE', `${PRODUCTS}/clients`, names);
  });

  it('notification settings: makes, lists, replaces, changes and deletes one', async () => {
    const SETTINGS = '/iam/reselling/resellers/1/notification_settings';
    const body = { notification_type: 'failed_login', email: 'ops@example.com' };
    const made = await client.post<Made>(SETTINGS, body);
    const one = `${SETTINGS}/${made.id}`;
    expect(await client.list(SETTINGS, { limit: 1, ordering: 'id' })).toContainEqual(made);
    expect(await client.get(one)).toEqual(made);
    const replaced = { ...body, email: 'security@example.com', enabled: false };
    expect(await client.put(one, replaced)).toMatchObject(replaced);
    expect(await client.patch(one, { ...body, enabled: true })).toMatchObject({ ...body, enabled: true });
    await client.silent('DELETE', one);
    await expect(client.get(one)).rejects.toMatchObject(refusal(404));
  });
}
