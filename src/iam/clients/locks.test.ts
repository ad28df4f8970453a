import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyEmail, comes, newPerson, PASSWORD, type Person } from '../../../test/support/logins.ts';
import { addReseller, asResellerOf, type TestReseller } from '../../../test/support/reseller.ts';
import { borrowService, type TestService } from '../../../test/support/service.ts';

type Answer = Awaited<ReturnType<Person['http']['get']>>;

let service: TestService;
let reseller: TestReseller;
let next: TestReseller;
beforeAll(async () => {
  service = await borrowService();
  reseller = await addReseller(service, 'Leaving');
  next = await addReseller(service, 'Arriving');
});
afterAll(() => service?.stop());

const WAITING = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
const waiting = (count = 1) => expect.poll(async () => (await service.pool.query(WAITING)).rowCount).toBe(count);

/** Holds the lock of an account, does `meanwhile` on that connection once the request waits for it, and lets go. */
async function whileHeld(
  clientId: number,
  request: () => Promise<Answer>,
  meanwhile: (sql: (text: string, values?: unknown[]) => Promise<unknown>) => Promise<unknown>,
): Promise<Answer> {
  const holder = await service.pool.connect();
  await holder.query('begin');
  await holder.query('select from clients where id = $1 for no key update', [clientId]);
  const answer = request();
  let end = 'rollback';
  try {
    await waiting();
    await meanwhile((text, values) => holder.query(text, values));
    end = 'commit';
  } finally {
    await holder.query(end);
    holder.release();
    await answer;
  }
  return answer;
}

const cloudOf = async (clientId: number) => {
  const { body } = await service.http.get(`/iam/clients/${clientId}/services`);
  return `/iam/clients/${clientId}/services/${body.find(({ name }: { name: string }) => name === 'CLOUD').id}`;
};
const tokensOf = (clientId: number) => `/iam/v2/clients/${clientId}/tokens`;
const NEW_TOKEN = { name: 'x', exp_date: null, client_user: { role: { id: 2 } } };
const list = (clientId: number) => ({
  scope: 'client',
  id: clientId,
  discount_percent: 10,
  valid_from: new Date(Date.now() + 86_400_000).toISOString(),
});
const role = { user_role: { id: 2 } };

describe('the former reseller of a client that goes to another one at that moment', () => {
  type Way = (client: Person) => Promise<() => Promise<Answer>>;
  const ways: [string, Way, number][] = [
    [
      'changes a service',
      async (of) => {
        const path = await cloudOf(of.clientId);
        return () => reseller.http.put(path, { status: 'paused' });
      },
      404,
    ],
    [
      'makes a price list',
      async ({ clientId }) =>
        () =>
          reseller.http.post('/tradewind/v1/price_lists', list(clientId)),
      400,
    ],
    [
      'deletes a price list',
      async ({ clientId }) => {
        const made = await reseller.http.post('/tradewind/v1/price_lists', list(clientId));
        expect(made.status, made.text).toBe(201);
        return () => reseller.http.delete(`/tradewind/v1/price_lists/${made.body.id}`);
      },
      404,
    ],
    [
      'sets a threshold of quotas',
      async ({ clientId }) =>
        () =>
          reseller.http.put(`/cloud/v2/client_quotas/${clientId}/notification_threshold`, { threshold: 70 }),
      404,
    ],
    [
      'activates a feature',
      async ({ clientId: client_id }) =>
        () =>
          reseller.http.post('/iam/admin/paid_features', { client_id, feature_id: 5 }),
      400,
    ],
    [
      'deactivates a feature',
      async ({ clientId: client_id }) => {
        const made = await reseller.http.post('/iam/admin/paid_features', { client_id, feature_id: 5 });
        return () => reseller.http.delete(`/iam/admin/paid_features/${made.body.id}`);
      },
      404,
    ],
    [
      'makes a token',
      async ({ clientId }) =>
        () =>
          reseller.http.post(tokensOf(clientId), NEW_TOKEN),
      403,
    ],
    [
      'revokes a token',
      async ({ clientId, http }) => {
        const { id } = (await http.post(tokensOf(clientId), NEW_TOKEN)).body;
        return () => reseller.http.delete(`${tokensOf(clientId)}/${id}`);
      },
      403,
    ],
    [
      'invites a user',
      async ({ clientId: client_id }) =>
        () =>
          reseller.http.post('/iam/clients/invite_user', { email: anyEmail(), client_id, ...role }),
      403,
    ],
    [
      'makes a user there',
      async ({ clientId }) =>
        () =>
          reseller.http.post(`/iam/clients/${clientId}/client-users/create`, {
            username: anyEmail(),
            password: PASSWORD,
            ...role,
          }),
      403,
    ],
    [
      'changes a role',
      async (of) => {
        const member = await comes(of);
        return () => reseller.http.put(`/iam/clients/${of.clientId}/client-users/${member}`, role);
      },
      403,
    ],
    [
      'removes a member',
      async (of) => {
        const member = await comes(of);
        return () => reseller.http.delete(`/iam/clients/${of.clientId}/client-users/${member}`);
      },
      403,
    ],
    [
      'blocks a user',
      async (of) => {
        const member = await comes(of);
        return () => reseller.http.patch(`/iam/users/${member}`, { is_active: false });
      },
      404,
    ],
    [
      'deletes a user',
      async (of) => {
        const member = await comes(of);
        return () => reseller.http.delete(`/iam/users/${member}`);
      },
      404,
    ],
    [
      'logs in as its administrator',
      async ({ clientId }) =>
        () =>
          reseller.http.get(`/iam/auth/jwt/clients/${clientId}/admin_token`),
      404,
    ],
    [
      'suspends it',
      async ({ clientId }) =>
        () =>
          reseller.http.post(`/tradewind/v1/clients/${clientId}/suspend`),
      404,
    ],
    [
      'renames it',
      async ({ clientId }) =>
        () =>
          reseller.http.patch(`/iam/clients/${clientId}`, { companyName: 'Mine' }),
      404,
    ],
  ];

  it.each(ways)('%s no more', async (_, prepare, status) => {
    const client = await newPerson(reseller.http);
    const decide = await prepare(client);
    const answer = await whileHeld(client.clientId, decide, (sql) =>
      sql('update clients set reseller_id = $1 where id = $2', [next.resellerId, client.clientId]),
    );
    expect(answer.status, answer.text).toBe(status);
  });
});

describe('a feature of an account that goes', () => {
  const confirmation = async (clientId: number) => {
    const { body } = await service.http.post(`/tradewind/v1/clients/${clientId}/deletion`, {});
    return { confirmation: body.confirmation };
  };

  it('is not activated from then on', async () => {
    const { clientId: client_id } = await newPerson(reseller.http);
    const confirmed = await confirmation(client_id);
    // As if a worker had claimed its deletion that died.
    await service.pool.query(`
      create function claimed_by_the_dead() returns trigger language plpgsql as $$
      begin new.worker_id = gen_random_uuid(); return new; end $$;
      create trigger claimed_by_the_dead before insert on deletions
        for each row execute function claimed_by_the_dead()`);
    try {
      const begun = await service.http.post(`/tradewind/v1/clients/${client_id}/deletion`, confirmed);
      expect(begun.status, begun.text).toBe(200);
      const feature = { client_id, feature_id: 5 };
      const late = await reseller.http.post('/iam/admin/paid_features', feature);
      expect([late.status, late.text]).toEqual([409, expect.stringContaining(begun.body.task_id)]);
    } finally {
      await service.pool.query('drop function claimed_by_the_dead cascade');
    }
  });

  it('goes with it, if it was activated just before', async () => {
    const { clientId: client_id } = await newPerson(reseller.http);
    const confirmed = await confirmation(client_id);
    const activate = () => reseller.http.post('/iam/admin/paid_features', { client_id, feature_id: 5 });
    let deletion: Promise<Answer> | undefined;
    const activated = await whileHeld(client_id, activate, async () => {
      deletion = service.http.post(`/tradewind/v1/clients/${client_id}/deletion`, confirmed);
      await waiting(2);
    });
    expect(activated.status, activated.text).toBe(201);
    const begun = await deletion;
    expect(await service.http.task(begun?.body.task_id)).toMatchObject({ state: 'FINISHED' });
    const { rows } = await service.pool.query('select id from feature_activations where client_id = $1', [client_id]);
    expect(rows).toEqual([]);
  });
});

describe('locks are taken in one order', () => {
  const seller = async (of: TestReseller) => {
    const email = anyEmail();
    const made = await of.http.post('/iam/admin/sellers', { email, full_name: 'Sam' });
    const token = made.body.invitation_token;
    const joined = await service.anonymous.post('/iam/auth/accept_invitation', { token, password: PASSWORD });
    expect(joined.status, joined.text).toBe(200);
    return made.body.id as number;
  };
  const FREE_USER = 'select from users where id = $1 for share nowait';
  const FREE_RESELLER = 'select from resellers where id = $1 for share nowait';

  it("when a reseller's own account moves: all accounts before its users", async () => {
    const own = await addReseller(service, 'Moving');
    const sold = await newPerson(own.http);
    const by = await seller(own);
    const given = await own.http.patch(`/iam/clients/${sold.clientId}`, { seller: by });
    expect(given.status, given.text).toBe(200);
    const move = () => service.http.patch(`/iam/clients/${own.clientId}`, { reseller: next.resellerId });
    const moved = await whileHeld(sold.clientId, move, (sql) => sql(FREE_USER, [by]));
    expect([moved.status, moved.body.resellers]).toEqual([200, next.resellerId]);
    expect((await service.http.get(`/iam/clients/${sold.clientId}`)).body.seller).toBeNull();
  });

  it('when a reseller is deleted: its account before the reseller', async () => {
    const { body } = await service.http.post('/tradewind/v1/resellers', { name: 'Going' });
    const remove = () => service.http.delete(`/tradewind/v1/resellers/${body.id}`);
    const begun = await whileHeld(body.client_id, remove, (sql) => sql(FREE_RESELLER, [body.id]));
    expect(begun.status, begun.text).toBe(200);
  });

  it('when what all clients of a reseller may have is decided: they before the reseller', async () => {
    const own = await addReseller(service, 'Deciding');
    const { clientId } = await newPerson(own.http);
    await own.http.put(await cloudOf(clientId), { status: 'paused' });
    const decide = () =>
      own.http.patch('/iam/products/availability/defaults', { product_name: 'CLOUD', available: false });
    const free = (sql: (text: string, values: unknown[]) => Promise<unknown>) => sql(FREE_RESELLER, [own.resellerId]);
    expect((await whileHeld(clientId, decide, free)).status).toBe(200);
    const reset = () =>
      own.http.request('DELETE', '/iam/products/availability/clients', {
        body: { product_names: ['CLOUD'] },
      });
    expect((await whileHeld(clientId, reset, free)).status).toBe(204);
  });

  it('when a user is changed at a version: the accounts before the user', async () => {
    const person = await newPerson(reseller.http);
    const path = `/iam/users/${person.userId}`;
    const etag = (await person.http.get(path)).headers.get('etag') ?? '';
    const rename = () => person.http.request('PATCH', path, { body: { name: 'Kim' }, headers: { 'if-match': etag } });
    const renamed = await whileHeld(person.clientId, rename, (sql) => sql(FREE_USER, [person.userId]));
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Kim']);
  });
});

describe('the version of a client', () => {
  it('moves with what counts for all clients, and with its features', async () => {
    const own = await addReseller(service, 'Counting');
    const colleague = await asResellerOf(service, own.clientId);
    const { clientId } = await newPerson(own.http);
    const decided = await newPerson(own.http);
    const set = (path: string, available: boolean) =>
      own.http.patch(`/iam/products/availability/${path}`, { product_name: 'STREAMING', available });
    expect((await set(`clients/${decided.clientId}`, true)).status).toBe(200);
    const versionOf = async (id: number) => (await colleague.get(`/iam/clients/${id}`)).headers.get('etag') ?? '';
    const moved = async (change: () => Promise<Answer>) => {
      const before = [await versionOf(clientId), await versionOf(decided.clientId)];
      const answer = await change();
      expect(answer.status, answer.text).toBeLessThan(300);
      const now = [await versionOf(clientId), await versionOf(decided.clientId)];
      return { answer, moved: now.map((version, index) => version !== before[index]) };
    };
    const services = await own.http.get(`/iam/clients/${clientId}/services`);
    const streaming = services.body.find(({ name }: { name: string }) => name === 'STREAMING').id;
    await own.http.put(`/iam/clients/${clientId}/services/${streaming}`, { status: 'paused' });

    expect((await moved(() => set('defaults', false))).moved).toEqual([true, false]);
    const known = await versionOf(clientId);
    expect((await moved(() => set('defaults', true))).moved).toEqual([true, false]);
    const late = await own.http.request('PATCH', `/iam/clients/${clientId}`, {
      body: { companyName: 'Late' },
      headers: { 'if-match': known },
    });
    expect(late.status).toBe(412);
    const forget = () =>
      own.http.request('DELETE', '/iam/products/availability/clients', {
        body: { product_names: ['STREAMING'] },
      });
    expect((await moved(forget)).moved).toEqual([false, true]);

    const feature = { client_id: clientId, feature_id: 5 };
    const on = await moved(() => own.http.post('/iam/admin/paid_features', feature));
    expect(on.moved).toEqual([true, false]);
    const off = await moved(() => own.http.delete(`/iam/admin/paid_features/${on.answer.body.id}`));
    expect(off.moved).toEqual([true, false]);
  });
});
