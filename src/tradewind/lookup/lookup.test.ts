import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHttpClient, type HttpClient, SOON } from '../../../test/support/http-client.ts';
import { anyEmail, bearer, comes, logIn, newPerson, type Person } from '../../../test/support/logins.ts';
import { addReseller, type TestReseller } from '../../../test/support/reseller.ts';
import { startService, type Tenant, type TestService } from '../../../test/support/service.ts';

let service: TestService;
let reseller: TestReseller;
/** A client of that reseller, and one of the first. */
let client: Tenant;
let other: Tenant;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true' });
  reseller = await addReseller(service, 'Lookup');
  client = await clientOf(reseller.http, 'Looked Up Ltd');
  other = await service.otherTenant();
});
afterAll(() => service.stop());

async function clientOf(http: HttpClient, company: string): Promise<Tenant> {
  const made = await http.post('/iam/clients/create', { company });
  expect(made.status, made.text).toBe(201);
  await service.pool.query('update clients set email = $1 where id = $2', ['looked@example.com', made.body.id]);
  const role = { name: 'Administrators' };
  const token = await service.http.post(`/iam/v2/clients/${made.body.id}/tokens`, {
    name: 'test',
    exp_date: null,
    client_user: { role },
  });
  const own = createHttpClient(service.url, token.body.token);
  const projects = await own.get('/cloud/v1/projects');
  return { clientId: made.body.id, projectId: projects.body.results[0].id, http: own };
}

/** Begins a volume, and returns its task. */
async function volume({ http, projectId }: Pick<Tenant, 'http' | 'projectId'>, name: string): Promise<string> {
  const made = await http.post(`/cloud/v1/volumes/${projectId}/1`, { source: 'new-volume', name, size: 1 });
  expect(made.status, made.text).toBe(200);
  return made.body[0];
}

async function madeVolume(tenant: Pick<Tenant, 'http' | 'projectId'>, name: string): Promise<string> {
  return (await service.http.task(await volume(tenant, name))).created_resources.volumes[0];
}

async function answer(http: HttpClient, path: string) {
  const { status, body, text } = await http.get(`/tradewind/v1/${path}`);
  expect(status, text).toBe(200);
  return body;
}

/** Reads all pages. */
async function pages(http: HttpClient, path: string) {
  const results: Record<string, unknown>[] = [];
  for (let token: string | null = ''; token !== null; ) {
    const body = await answer(http, `${path}${token === '' ? '' : `&page_token=${token}`}`);
    results.push(...body.results);
    token = body.next_page_token;
  }
  return results;
}

const named = (results: { name?: unknown }[]) => results.map(({ name }) => name);
const hold = (name: string) =>
  service.http.post('/tradewind/v1/test/faults', { task: 'create_volume', name, do: { hold: true } });
const letGo = () => service.http.delete('/tradewind/v1/test/faults');

describe('a task that hangs', () => {
  it('is seen by the platform administrator and the reseller of its account, and not by others', async () => {
    await hold('hangs');
    const id = await volume(client, 'hangs');
    const shown = await vi.waitFor(async () => {
      const { results } = await answer(service.http, 'tasks?state=NEW&state=RUNNING');
      const found = results.find((task: { id: string }) => task.id === id);
      expect(found?.waits_for?.state).toBe('doing');
      return found;
    }, SOON);
    expect(shown).toMatchObject({
      task_type: 'create_volume',
      client_id: client.clientId,
      project_id: client.projectId,
      region_id: 1,
      request_id: expect.any(String),
      waits_for: { kind: 'volume', failures: 0, backend: 'simulated', worker: expect.stringContaining(':') },
    });
    const toReseller = (await answer(reseller.http, 'tasks?state=RUNNING')).results;
    expect(toReseller).toMatchObject([{ id, waits_for: { kind: 'volume', backend: null, worker: null } }]);
    expect((await answer(client.http, 'tasks?state=RUNNING')).results).toMatchObject([{ id }]);
    expect((await answer(other.http, 'tasks?state=RUNNING')).results).toEqual([]);
    expect((await answer(other.http, `tasks?client_id=${client.clientId}`)).results).toEqual([]);
    expect((await answer(other.http, `tasks?project_id=${client.projectId}`)).results).toEqual([]);
    const backlog = await answer(service.http, 'platform/backlog');
    expect(backlog.results).toMatchObject([
      { region_id: 1, backend: 'simulated', kind: 'volume', waiting: 0, running: 1, failing: 0 },
    ]);
    await letGo();
    await service.http.task(id);
    expect((await answer(service.http, 'tasks?state=RUNNING')).results).toEqual([]);
  });

  it('is shown to nobody else by the work of the platform', async () => {
    expect((await reseller.http.get('/tradewind/v1/platform/backlog')).status).toBe(403);
  });
});

describe('lists of tasks', () => {
  it('are filtered by account, project, region, type, state, time and resource', async () => {
    const made = await madeVolume(client, 'filtered');
    const all = await pages(service.http, `tasks?client_id=${client.clientId}&limit=1`);
    expect(all.length).toBeGreaterThan(1);
    const [{ id, created_on }] = all as [{ id: string; created_on: string }];
    for (const filter of [
      `project_id=${client.projectId}`,
      `client_id=${client.clientId}&region_id=1&task_type=create_volume`,
      `client_id=${client.clientId}&state=FINISHED`,
      `resource_id=${made}`,
      `client_id=${client.clientId}&from=${created_on}`,
    ]) {
      expect((await answer(service.http, `tasks?${filter}&limit=1`)).results, filter).toMatchObject([{ id }]);
    }
    for (const filter of [
      `client_id=${client.clientId}&region_id=2`,
      `client_id=${client.clientId}&task_type=create_vm`,
      `client_id=${client.clientId}&state=ERROR`,
      `client_id=${client.clientId}&to=2020-01-01T00:00:00Z`,
      `resource_id=${randomUUID()}`,
    ]) {
      expect((await answer(service.http, `tasks?${filter}`)).results, filter).toEqual([]);
    }
    expect((await answer(other.http, `tasks?resource_id=${made}`)).results).toEqual([]);
  });

  it('find failures by their error', async () => {
    const fault = { task: 'create_volume', name: 'fails', do: { fail: 'the shelf is full' } };
    expect((await service.http.post('/tradewind/v1/test/faults', fault)).status).toBe(201);
    const id = await volume(client, 'fails');
    expect(await service.http.task(id)).toMatchObject({ state: 'ERROR' });
    await letGo();
    expect((await answer(service.http, 'tasks?error=shelf')).results).toMatchObject([{ id, state: 'ERROR' }]);
    expect((await answer(reseller.http, 'tasks?error=SHELF&state=ERROR')).results).toMatchObject([{ id }]);
    expect((await answer(service.http, 'tasks?error=nothing')).results).toEqual([]);
    // What it should have become is known to the log alone.
    const found = await answer(service.http, 'search?q=fails');
    expect(found).toMatchObject({ resources: [], former: [{ kind: 'volume', name: 'fails', task_id: id }] });
    const { results } = await answer(service.http, `tasks?resource_id=${found.former[0].id}`);
    expect(results).toMatchObject([{ id, error: expect.stringContaining('shelf') }]);
  });
});

describe('lists of resources', () => {
  it('have every kind of an account, page by page, the newest first', async () => {
    const whole = (await answer(client.http, 'resources?limit=100')).results;
    expect(new Set(whole.map(({ kind }: { kind: string }) => kind))).toEqual(
      new Set(
        ['network', 'project', 'security_group', 'subnet', 'volume'].filter((kind) =>
          whole.some((one: { kind: string }) => one.kind === kind),
        ),
      ),
    );
    expect(whole.length).toBeGreaterThan(3);
    for (const one of whole) expect(one).toMatchObject({ client_id: client.clientId, project_id: client.projectId });
    for (const http of [client.http, reseller.http, service.http]) {
      const path = `resources?limit=1&client_id=${client.clientId}`;
      expect(await pages(http, path)).toEqual(whole);
    }
    expect((await answer(other.http, `resources?client_id=${client.clientId}`)).results).toEqual([]);
    expect((await answer(other.http, `resources?project_id=${client.projectId}`)).results).toEqual([]);
    const times = whole.map((one: { created_at: string }) => one.created_at);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  it('are filtered by kind, name, state, region and time', async () => {
    for (const name of ['Web-1', 'web-2', 'web-3', 'wet']) await madeVolume(client, name);
    await madeVolume(other, 'web-4');
    const list = async (filter: string, http = service.http) => named(await pages(http, `resources?limit=2&${filter}`));
    expect(await list('name=WEB*')).toEqual(['Web-1', 'web-2', 'web-3', 'web-4']);
    expect(await list('name=WEB*', reseller.http)).toEqual(['Web-1', 'web-2', 'web-3']);
    expect(await list('name=WEB*', other.http)).toEqual(['web-4']);
    expect(await list('name=web-1')).toEqual(['Web-1']);
    expect(await list('name=web')).toEqual([]);
    expect(await list(`name=we*&kind=volume&region_id=1&client_id=${client.clientId}`)).toHaveLength(4);
    expect(await list('name=we*&region_id=2')).toEqual([]);
    expect(await list('name=we*&kind=instance')).toEqual([]);
    expect(await list('name=we*&to=2020-01-01T00:00:00Z')).toEqual([]);
    expect(await list(`kind=volume&state=available&client_id=${other.clientId}`)).toEqual(['web-4']);
    expect(await list(`kind=volume&state=error&client_id=${other.clientId}`)).toEqual([]);
    await hold('held');
    const task = await volume(client, 'held');
    expect(await list('state=creating')).toEqual(['held']);
    const [held] = (await answer(service.http, 'resources?state=creating')).results;
    expect(held).toMatchObject({ kind: 'volume', name: 'held', state: 'creating', task_id: task });
    await letGo();
    await service.http.task(task);
  });

  it('go on where a page left off, although nothing on it was wanted', async () => {
    await service.pool.query('alter table volumes disable trigger user');
    await service.pool.query(`
      insert into volumes (id, name, project_id, region_id, size_gib, volume_type, status, bootable, tags, creator_task_id,
        created_at, updated_at)
      select gen_random_uuid(), 'filler', project_id, 2, size_gib, volume_type, status, bootable, tags, creator_task_id,
        created_at + n * interval '1 second', updated_at
      from (select * from volumes order by created_at desc limit 1) as one, generate_series(1, 25000) as n`);
    await service.pool.query('alter table volumes enable trigger user');
    const path = 'resources?kind=volume&region_id=1&limit=100';
    const first = await answer(service.http, path);
    expect(first).toMatchObject({ results: [], next_page_token: expect.any(String) });
    expect(named(await pages(service.http, path))).toContain('web-4');
    await service.pool.query(`delete from volumes where name = 'filler'`);
  });

  it('find what has an address', async () => {
    const made = await other.http.post(`/cloud/v1/floatingips/${other.projectId}/1`, {});
    const task = await service.http.task(made.body[0] ?? made.body.tasks[0]);
    const [id] = task.created_resources.floatingips;
    const [{ name: address }] = (await answer(other.http, 'resources?kind=floating_ip')).results;
    for (const http of [service.http, other.http]) {
      expect((await answer(http, `resources?address=${address}`)).results).toMatchObject([{ kind: 'floating_ip', id }]);
      const found = await answer(http, `search?q=${address}`);
      expect(found.resources).toMatchObject([{ kind: 'floating_ip', id, client_id: other.clientId }]);
      expect(found.addresses).toMatchObject([{ address, kind: 'floating_ip', client_id: other.clientId, to: null }]);
    }
    for (const http of [client.http, reseller.http]) {
      expect((await answer(http, `resources?address=${address}`)).results).toEqual([]);
      expect(await answer(http, `search?q=${address}`)).toMatchObject({ resources: [], addresses: [] });
    }
    // What was had for less than a second is not noted.
    await service.pool.query(
      `update usage_periods set started_at = started_at - interval '1 hour' where resource_id = $1`,
      [id],
    );
    await service.http.task((await other.http.delete(`/cloud/v1/floatingips/${other.projectId}/1/${id}`)).body[0]);
    const later = await answer(service.http, `search?q=${address}`);
    expect(later).toMatchObject({ resources: [], addresses: [{ address, id, to: expect.any(String) }] });
    expect((await service.http.get('/tradewind/v1/resources?address=here')).status).toBe(400);
  });
});

describe('a search', () => {
  it('finds a resource by its ID and name, a task and a request by their IDs', async () => {
    const task = await volume(client, 'searched');
    const id = (await service.http.task(task)).created_resources.volumes[0];
    const resource = { kind: 'volume', id, name: 'searched', client_id: client.clientId, region_id: 1, task_id: null };
    const byTask = await answer(service.http, `search?q=${task}`);
    expect(byTask.tasks).toMatchObject([{ id: task, client_id: client.clientId }]);
    const byRequest = `search?q=${byTask.tasks[0].request_id}`;
    for (const http of [service.http, reseller.http, client.http]) {
      expect((await answer(http, `search?q=${id}`)).resources).toMatchObject([resource]);
      expect((await answer(http, 'search?q=SEARCH')).resources).toMatchObject([resource]);
      expect((await answer(http, `search?q=${task}`)).tasks).toMatchObject([{ id: task }]);
    }
    for (const http of [service.http, client.http]) {
      const { requests, tasks } = await answer(http, byRequest);
      expect(requests).toMatchObject([{ operation: 'createVolume', outcome: 'accepted', task_id: task }]);
      expect(tasks).toMatchObject([{ id: task }]);
    }
    // The log of an account is its own.
    expect((await answer(reseller.http, byRequest)).requests).toEqual([]);
    const nothing = { resources: [], former: [], tasks: [], customers: [], users: [], addresses: [], requests: [] };
    for (const q of [id, 'searched', task, byTask.tasks[0].request_id, client.projectId]) {
      expect(await answer(other.http, `search?q=${q}`)).toEqual({ ...nothing, complete: true });
    }
  });

  it('finds accounts by company, e-mail and ID, and users by e-mail', async () => {
    for (const http of [service.http, reseller.http, client.http]) {
      for (const q of ['looked', 'Looked@Ex', String(client.clientId)].filter((text) => text.length > 1)) {
        const { customers } = await answer(http, `search?q=${encodeURIComponent(q)}`);
        expect(customers, q).toMatchObject([{ id: client.clientId, company: 'Looked Up Ltd' }]);
      }
    }
    expect((await answer(other.http, 'search?q=looked')).customers).toEqual([]);
    const person = await newPerson(service.http);
    const found = { users: [{ id: person.userId, client_ids: [person.clientId] }] };
    expect(await answer(service.http, `search?q=${person.email.toUpperCase()}`)).toMatchObject(found);
    expect(await answer(person.http, `search?q=${person.email}`)).toMatchObject(found);
    expect((await answer(reseller.http, `search?q=${person.email}`)).users).toEqual([]);
  });
});

describe('a user with rights in single projects', () => {
  let boss: Person;
  let member: HttpClient;
  let hidden: Tenant;
  beforeAll(async () => {
    boss = await newPerson(service.http);
    const [{ id }] = (await boss.http.get('/cloud/v1/projects')).body.results;
    hidden = { http: boss.http, clientId: boss.clientId, projectId: id };
    const seen = (await boss.http.post('/cloud/v1/projects', { name: 'seen' })).body.id;
    const email = anyEmail();
    const user_id = await comes(boss, email, { name: 'Engineers' });
    const assignment = { user_id, client_id: boss.clientId, project_id: seen, role: 'Observer' };
    await boss.http.post('/cloud/v1/users/assignments', assignment);
    member = bearer(service.url, await logIn(service.anonymous, email));
    await madeVolume(hidden, 'confined-hidden');
    await madeVolume({ ...hidden, projectId: seen }, 'confined-seen');
  });

  it('looks up nothing else', async () => {
    expect(named((await answer(boss.http, 'resources?name=confined*')).results)).toHaveLength(2);
    expect(named((await answer(member, 'resources?name=confined*')).results)).toEqual(['confined-seen']);
    expect(named((await answer(member, 'search?q=confined')).resources)).toEqual(['confined-seen']);
    expect(await answer(member, `search?q=${boss.email}`)).toMatchObject({ customers: [], users: [] });
    const types = (await answer(member, 'tasks')).results.map(({ project_id }: { project_id: number }) => project_id);
    expect(new Set(types).size).toBe(1);
    expect(types).not.toContain(hidden.projectId);
    expect((await answer(member, `tasks?project_id=${hidden.projectId}`)).results).toEqual([]);
    expect((await answer(member, `resources?project_id=${hidden.projectId}`)).results).toEqual([]);
  });
});
