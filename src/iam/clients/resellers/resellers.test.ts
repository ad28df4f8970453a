import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpClient } from '../../../../test/support/http-client.ts';
import { addReseller } from '../../../../test/support/reseller.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const RESELLERS = '/tradewind/v1/resellers';

it('makes a reseller who can work at once, and deletes it when it is empty', async () => {
  const made = await service.http.post(RESELLERS, { name: 'Cloud Shop', email: 'boss@shop.example' });
  expect(made.status, made.text).toBe(201);
  const { id, client_id, token, ...rest } = made.body;
  expect(rest).toEqual({ name: 'Cloud Shop', clients: 1, created_at: expect.any(String) });
  const http = createHttpClient(service.url, token);
  expect((await http.get('/iam/clients/me')).body).toMatchObject({
    id: client_id,
    companyName: 'Cloud Shop',
  });
  const client = (await http.post('/iam/clients/create', { company: 'First customer' })).body.id;
  expect((await http.get('/iam/clients')).body).toHaveLength(2);
  expect((await service.http.get(`${RESELLERS}/${id}`)).body).toMatchObject({ clients: 2, client_id });

  const refused = await service.http.delete(`${RESELLERS}/${id}`);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(`: ${client}`)]);
  const moved = await service.http.patch(`/iam/clients/${client}`, { reseller: 1 });
  expect(moved.status, moved.text).toBe(200);
  const projectId = (await http.get('/cloud/v1/projects')).body.results[0].id;
  const added = await http.post(`/cloud/v1/ssh_keys/${projectId}`, { name: 'kept' });
  expect((await service.http.delete(`${RESELLERS}/${id}`)).text).toContain('SSH keys: 1');
  await http.delete(`/cloud/v1/ssh_keys/${projectId}/${added.body.id}`);

  const begun = await service.http.delete(`${RESELLERS}/${id}`);
  expect(begun.status, begun.text).toBe(200);
  expect((await http.get('/iam/clients/me')).status).toBe(401);
  expect(await service.http.task(begun.body.task_id)).toMatchObject({
    task_type: 'delete_client',
    state: 'FINISHED',
    data: { reseller_id: id, client_id },
  });
  expect((await service.http.get(`${RESELLERS}/${id}`)).status).toBe(404);
  expect((await service.http.delete(`${RESELLERS}/${id}`)).status).toBe(404);
  expect((await service.http.patch(`/iam/clients/${client}`, { reseller: id })).status).toBe(400);
});

it('gets no new clients from then on', async () => {
  const { id } = (await service.http.post(RESELLERS, { name: 'Closing down' })).body;
  const { id: client } = (await service.http.post('/iam/clients/create', { company: 'Customer' })).body;
  // As if a worker had claimed its deletion that died.
  await service.pool.query(`
    create function claimed_by_the_dead() returns trigger language plpgsql as $$
    begin new.worker_id = gen_random_uuid(); return new; end $$;
    create trigger claimed_by_the_dead before insert on deletions
      for each row execute function claimed_by_the_dead()`);
  try {
    const begun = await service.http.delete(`${RESELLERS}/${id}`);
    expect((await service.http.patch(`/iam/clients/${client}`, { reseller: id })).status).toBe(400);
    expect(await service.http.task(begun.body.task_id)).toMatchObject({ state: 'FINISHED' });
  } finally {
    await service.pool.query('drop function claimed_by_the_dead cascade');
  }
});

it('lists them in pages', async () => {
  const made = await service.http.post(RESELLERS, { name: 'Second page' });
  const names: string[] = [];
  for (let token: string | null = ''; token !== null; ) {
    const { body } = await service.http.get(`${RESELLERS}?limit=1${token && `&page_token=${token}`}`);
    names.push(...body.results.map(({ name }: { name: string }) => name));
    token = body.next_page_token;
  }
  expect(names).toEqual(['Tradewind', 'Second page']);
  expect((await service.http.get(`${RESELLERS}?page_token=x`)).status).toBe(400);
  await service.http.task((await service.http.delete(`${RESELLERS}/${made.body.id}`)).body.task_id);
});

it('is for the platform administrator, who keeps the own one', async () => {
  const reseller = await addReseller(service, 'Curious');
  for (const http of [reseller.http, (await service.otherTenant()).http]) {
    expect((await http.get(RESELLERS)).status).toBe(403);
    expect((await http.get(`${RESELLERS}/${reseller.resellerId}`)).status).toBe(403);
    expect((await http.post(RESELLERS, { name: 'Mine' })).status).toBe(403);
    expect((await http.delete(`${RESELLERS}/${reseller.resellerId}`)).status).toBe(403);
  }
  expect((await service.http.delete(`${RESELLERS}/1`)).status).toBe(409);
  expect((await service.http.get(`${RESELLERS}/999`)).status).toBe(404);
  const taken = await service.http.post(RESELLERS, { name: 'Twice', email: 'admin@curious.invalid' });
  expect(taken.status).toBe(400);
});
