import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../test/support/boot-volume.ts';
import { createHttpClient, type HttpClient } from '../../../test/support/http-client.ts';
import { anyEmail, bearer, comes, logIn, newPerson, type Person } from '../../../test/support/logins.ts';
import { documentedOperations } from '../../../test/support/openapi.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { cloudRights, OPERATIONS_OF_EVERYBODY } from '../../requests/principal.ts';

const A = '/cloud/v1/users/assignments';

let service: TestService;
let boss: Person;
/** Two projects of the boss. */
let one: number;
let other: number;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '200' });
  boss = await newPerson(service.http);
  one = (await boss.http.get('/cloud/v1/projects')).body.results[0].id;
  other = (await boss.http.post('/cloud/v1/projects', { name: 'other' })).body.id;
});
afterAll(() => service.stop());

interface Member {
  id: number;
  http: HttpClient;
}

async function member(group: string): Promise<Member> {
  const email = anyEmail();
  const id = await comes(boss, email, { name: group });
  return { id, http: bearer(service.url, await logIn(service.anonymous, email)) };
}

async function assign(user: Member, role: string, project_id: number | null, by = boss.http): Promise<number> {
  const answer = await by.post(A, { user_id: user.id, client_id: boss.clientId, project_id, role });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toMatchObject({ user_id: user.id, client_id: boss.clientId, project_id, role });
  return answer.body.id;
}

/** A machine with one interface. */
const machine = (interfaces: object) => ({
  name: 'inside',
  flavor: 'g1-standard-1-2',
  interfaces: [interfaces],
  volumes: [BOOT_VOLUME],
});
const networks = (project: number) => `/cloud/v1/networks/${project}/1`;
const reads = async ({ http }: Member, project: number) => (await http.get(networks(project))).status;
const writes = async ({ http }: Member, project: number) =>
  (await http.post(networks(project), { name: 'by a member', create_router: false })).status;
const rightsIn = async (user: Member, project: number) => [await reads(user, project), await writes(user, project)];

describe('users', () => {
  it('without assignments keep the rights of their group everywhere', async () => {
    const [engineer, reader] = [await member('Engineers'), await member('Users')];
    for (const project of [one, other]) {
      expect(await rightsIn(engineer, project)).toEqual([200, 200]);
      expect(await rightsIn(reader, project)).toEqual([200, 403]);
    }
    expect(await rightsIn({ id: boss.userId, http: boss.http }, one)).toEqual([200, 200]);
  });

  it.each([
    ['Observer', 403],
    ['User', 200],
    ['ProjectAdministrator', 200],
    ['InternalNetworkOnlyUser', 200],
  ])('as %s of a project have its rights there, whatever their group, and none elsewhere', async (role, status) => {
    for (const group of ['Engineers', 'Users']) {
      const user = await member(group);
      await assign(user, role, one);
      expect(await rightsIn(user, one)).toEqual([200, status]);
      expect(await rightsIn(user, other)).toEqual([404, 404]);
    }
  });

  it('have another role in each project', async () => {
    const user = await member('Engineers');
    await assign(user, 'Observer', one);
    await assign(user, 'User', other);
    expect(await rightsIn(user, one)).toEqual([200, 403]);
    expect(await rightsIn(user, other)).toEqual([200, 200]);
    const listed = await user.http.get('/cloud/v1/projects');
    expect(new Set(listed.body.results.map(({ id }: { id: number }) => id))).toEqual(new Set([one, other]));
  });

  it('see no other project: neither in lists, nor its tasks', async () => {
    const user = await member('Engineers');
    await assign(user, 'Observer', one);
    const begun = async (project: number) =>
      (await boss.http.post(networks(project), { name: 'shown', create_router: false })).body[0];
    const [seen, hidden] = [await begun(one), await begun(other)];
    await boss.http.task(hidden);
    const projects = await user.http.get('/cloud/v1/projects?include_deleted=true');
    expect(projects.body).toMatchObject({ count: 1, results: [{ id: one }] });
    expect((await user.http.get(`/cloud/v1/projects/${other}`)).status).toBe(404);
    for (const path of ['/v1/tasks', '/cloud/v1/tasks']) {
      expect((await user.http.get(`${path}/${seen}`)).status).toBe(200);
      expect((await user.http.get(`${path}/${hidden}`)).status).toBe(404);
    }
    expect((await user.http.get(`/tradewind/v1/tasks/${hidden}/steps`)).status).toBe(404);
    const listed = async (query: string) =>
      (await user.http.get(`/cloud/v1/tasks?limit=1000${query}`)).body.results.map(
        ({ project_id }: { project_id: number }) => project_id,
      );
    expect(new Set(await listed(''))).toEqual(new Set([one]));
    expect(await listed(`&project_id=${other}`)).toEqual([]);
  });

  it('are refused what is about the whole account', async () => {
    const user = await member('Engineers');
    await assign(user, 'ProjectAdministrator', one);
    for (const path of [
      '/tradewind/v1/events',
      '/tradewind/v1/costs',
      '/tradewind/v1/usage',
      '/cloud/v2/client_quotas',
    ])
      expect((await user.http.get(path)).status, path).toBe(403);
    expect((await user.http.post('/cloud/v1/projects', { name: 'mine' })).status).toBe(403);
    expect((await user.http.get('/cloud/v1/regions')).status).toBe(200);
    expect((await user.http.get('/iam/users/me')).status).not.toBe(403);
    expect((await user.http.patch(`/cloud/v1/projects/${one}`, { description: 'ours' })).status).toBe(200);
  });

  it('have the same rights by their API tokens, and by lesser ones less', async () => {
    const user = await member('Engineers');
    await assign(user, 'User', one);
    const token = async (name: string): Promise<Member> => {
      const made = await user.http.post(`/iam/v2/clients/${boss.clientId}/tokens`, {
        name: 'mine',
        exp_date: null,
        client_user: { role: { name } },
      });
      expect(made.status, made.text).toBe(200);
      return { id: user.id, http: createHttpClient(service.url, made.body.token) };
    };
    const [equal, lesser] = [await token('Engineers'), await token('Users')];
    expect([await rightsIn(equal, one), await reads(equal, other)]).toEqual([[200, 200], 404]);
    expect([await rightsIn(lesser, one), await reads(lesser, other)]).toEqual([[200, 403], 404]);
  });

  it('as InternalNetworkOnlyUser take no public addresses', async () => {
    const user = await member('Users');
    await assign(user, 'InternalNetworkOnlyUser', one);
    const place = `${one}/1`;
    const floating = await user.http.post(`/cloud/v1/floatingips/${place}`, {});
    const reserved = await user.http.post(`/cloud/v1/reserved_fixed_ips/${place}`, { type: 'external' });
    for (const { status, text } of [floating, reserved]) {
      expect(status, text).toBe(403);
      expect(text).toContain('InternalNetworkOnlyUser');
    }
    const inside = (await user.http.get(`${networks(one)}?name=default`)).body.results[0].id;
    const own = { type: 'any_subnet', network_id: inside };
    expect((await user.http.post(`/cloud/v1/reserved_fixed_ips/${place}`, own)).status).toBe(200);
  });

  it('as InternalNetworkOnlyUser give instances and load balancers no public address that is there', async () => {
    const user = await member('Users');
    await assign(user, 'InternalNetworkOnlyUser', one);
    const place = `${one}/1`;
    const reserve = async (path: string, body: object) => {
      const begun = await boss.http.post(`/cloud/v1/${path}/${place}`, body);
      return (await boss.http.task(begun.body[0])).created_resources;
    };
    const floating = (await reserve('floatingips', {})).floatingips[0];
    const outside = (await reserve('reserved_fixed_ips', { type: 'external' })).ports[0];
    const inside = (await user.http.get(`${networks(one)}?name=default`)).body.results[0].id;
    const floating_ip = { source: 'existing', existing_floating_id: floating };
    const own = { type: 'any_subnet', network_id: inside };
    const at = `/cloud/v1/floatingips/${place}/${floating}`;
    const asUser = (body: object) => user.http.post(`/cloud/v2/instances/${place}`, machine(body));
    const tries = [
      await asUser({ ...own, floating_ip }),
      await asUser({ type: 'reserved_fixed_ip', port_id: outside }),
      await user.http.post(`/cloud/v1/loadbalancers/${place}`, {
        name: 'public',
        vip_network_id: inside,
        floating_ip,
      }),
      await user.http.post(`/cloud/v1/loadbalancers/${place}`, { name: 'public', vip_port_id: outside }),
      await user.http.post(`/cloud/v1/loadbalancers/${place}`, { name: 'public' }),
      await user.http.post(`/cloud/v1/reserved_fixed_ips/${place}/${outside}/convert`),
      await user.http.post(`${at}/unassign`),
      await user.http.delete(at),
    ];
    for (const { status, text } of tries) {
      expect(status, text).toBe(403);
      expect(text).toContain('InternalNetworkOnlyUser');
    }
    const made = await asUser(own);
    expect(made.status, made.text).toBe(200);
    const [instance] = (await user.http.task(made.body[0])).created_resources.instances;
    const attached = await user.http.post(`/cloud/v1/instances/${place}/${instance}/attach_interface`, {
      type: 'reserved_fixed_ip',
      port_id: outside,
    });
    expect(attached.status, attached.text).toBe(403);
    expect((await boss.http.get(at)).body.port_id).toBeNull();
  });

  it('cancel and acknowledge the tasks of projects in which they may change something', async () => {
    const user = await member('Users');
    await assign(user, 'Observer', other);
    await assign(user, 'User', one);
    const third = (await boss.http.post('/cloud/v1/projects', { name: 'third' })).body.id;
    const begun = async (project: number): Promise<string> =>
      (await boss.http.post(networks(project), { name: 'slow', create_router: false })).body[0];
    const tasks = [await begun(one), await begun(other), await begun(third)];
    for (const task of tasks) await boss.http.task(task);
    const each = (path: (task: string) => string) =>
      Promise.all(tasks.map(async (task) => (await user.http.post(path(task))).status));
    // All of them have ended.
    expect(await each((task) => `/tradewind/v1/tasks/${task}/cancel`)).toEqual([409, 403, 404]);
    expect(await each((task) => `/cloud/v1/tasks/${task}/acknowledge`)).toEqual([200, 403, 404]);
  });

  it('as ClientAdministrator administer the cloud, and nothing else', async () => {
    const user = await member('Users');
    const id = await assign(user, 'ClientAdministrator', null);
    expect(await rightsIn(user, other)).toEqual([200, 200]);
    const made = await user.http.post('/cloud/v1/projects', { name: 'by the administrator' });
    expect(made.status, made.text).toBe(201);
    expect(
      (await user.http.post('/iam/clients/invite_user', { email: anyEmail(), client_id: 1, user_role: {} })).status,
    ).toBe(403);
    expect((await user.http.get('/tradewind/v1/audit')).status).toBe(403);
    const colleague = await member('Users');
    await assign(colleague, 'Observer', one, user.http);
    expect(await rightsIn(colleague, other)).toEqual([404, 404]);
    expect((await boss.http.delete(`${A}/${id}`)).body).toEqual({ assignment_id: id });
    expect(await rightsIn(user, one)).toEqual([200, 403]);
  });

  it('gain and lose rights at once', async () => {
    const user = await member('Users');
    const id = await assign(user, 'User', one);
    expect(await rightsIn(user, one)).toEqual([200, 200]);
    const body = { user_id: user.id, role: 'Observer', project_id: other };
    expect((await boss.http.patch(`${A}/${id}`, body)).body).toEqual({ assignment_id: id });
    expect([await rightsIn(user, one), await rightsIn(user, other)]).toEqual([
      [404, 404],
      [200, 403],
    ]);
    await boss.http.delete(`${A}/${id}`);
    expect([await rightsIn(user, one), await rightsIn(user, other)]).toEqual([
      [200, 403],
      [200, 403],
    ]);
  });

  it('whose only project is gone have no other instead', async () => {
    const made = await boss.http.post('/cloud/v1/projects', { name: 'short-lived' });
    const user = await member('Engineers');
    await assign(user, 'User', made.body.id);
    const deleted = await boss.http.delete(`/cloud/v1/projects/${made.body.id}`);
    await boss.http.task(deleted.body[0]);
    expect(await rightsIn(user, made.body.id)).toEqual([404, 404]);
    expect(await rightsIn(user, one)).toEqual([404, 404]);
  });
});

describe('assignments', () => {
  it('are listed for the account, or for the projects that one sees', async () => {
    const [user, admin] = [await member('Users'), await member('Users')];
    const [first, second] = [await assign(user, 'Observer', one), await assign(user, 'User', other)];
    await assign(admin, 'ProjectAdministrator', one);
    const ids = async (http: HttpClient, query = '') =>
      (await http.get(`${A}?user_id=${user.id}${query}`)).body.results.map(({ id }: { id: number }) => id);
    expect(await ids(boss.http)).toEqual([first, second]);
    expect(await ids(boss.http, `&project_id=${other}`)).toEqual([second]);
    expect(await ids(admin.http)).toEqual([first]);
    expect((await admin.http.get(`/cloud/v1/users?user_id=${user.id}`)).body).toEqual({
      count: 1,
      results: [{ id: user.id, name: 'Guest', email: expect.any(String), activated: true, is_admin: false }],
    });
    expect((await boss.http.get(`/cloud/v1/users?user_id=${boss.userId}`)).body.results[0].is_admin).toBe(true);
    const roles = (await boss.http.get('/cloud/v1/users/roles')).body;
    expect(roles.count).toBe(5);
    expect((await boss.http.get('/cloud/v1/users/roles?project_id=1')).body.count).toBe(4);
  });

  it('are made by administrators of the project, for those who have no rights beyond', async () => {
    const [admin, confined, engineer] = [await member('Users'), await member('Users'), await member('Engineers')];
    const own = await assign(admin, 'ProjectAdministrator', one);
    const kept = await assign(confined, 'Observer', other);
    const id = await assign(confined, 'Observer', one, admin.http);
    const change = { user_id: confined.id, role: 'User', project_id: one };
    expect((await admin.http.patch(`${A}/${id}`, change)).status).toBe(200);
    const tries = [
      // Would take rights away from somebody, or lie in another project, or in the whole account.
      await admin.http.post(A, { user_id: engineer.id, project_id: one, role: 'Observer' }),
      await admin.http.patch(`${A}/${id}`, { ...change, project_id: other }),
      await admin.http.patch(`${A}/${id}`, { user_id: confined.id, role: 'ClientAdministrator' }),
      await admin.http.post(A, { user_id: admin.id, role: 'ClientAdministrator' }),
      await admin.http.delete(`${A}/${own}`),
      await engineer.http.post(A, { user_id: confined.id, project_id: one, role: 'User' }),
      await confined.http.patch(`${A}/${id}`, { ...change, role: 'ProjectAdministrator' }),
    ];
    expect(tries.map(({ status }) => status)).toEqual(tries.map(() => 403));
    expect((await admin.http.delete(`${A}/${kept}`)).status).toBe(404);
    expect((await admin.http.delete(`${A}/${id}`)).status).toBe(200);
    const last = await assign(confined, 'Observer', one, admin.http);
    await boss.http.delete(`${A}/${kept}`);
    const freeing = await admin.http.delete(`${A}/${last}`);
    expect(freeing.status).toBe(403);
    expect(freeing.text).toContain('only assignment');
  });

  it('are refused where they mean nothing', async () => {
    const user = await member('Users');
    const tenant = await service.otherTenant();
    const refused = async (body: object) =>
      (await boss.http.post(A, { user_id: user.id, ...body })).body.invalid_fields;
    expect(await refused({ role: 'Observer' })).toHaveProperty('project_id');
    expect(await refused({ role: 'ClientAdministrator', project_id: one })).toHaveProperty('project_id');
    expect(await refused({ role: 'Observer', project_id: tenant.projectId })).toHaveProperty('project_id');
    expect(await refused({ role: 'Observer', project_id: one, user_id: 1 })).toHaveProperty('user_id');
    expect(await refused({ role: 'Observer', project_id: one, user_id: boss.userId })).toHaveProperty('user_id');
    expect(await refused({ role: 'Owner', project_id: one })).toHaveProperty('role');
    const id = await assign(user, 'Observer', one);
    expect((await boss.http.post(A, { user_id: user.id, role: 'User', project_id: one })).status).toBe(409);
    const foreign = { user_id: user.id, client_id: boss.clientId, role: 'Observer', project_id: other };
    expect((await tenant.http.post(A, foreign)).status).toBe(403);
    expect((await tenant.http.patch(`${A}/${id}`, foreign)).status).toBe(404);
    expect((await tenant.http.delete(`${A}/${id}`)).status).toBe(404);
    const moved = await boss.http.patch(`${A}/${id}`, {
      user_id: boss.userId,
      role: 'User',
      project_id: one,
    });
    expect(moved.body.invalid_fields).toHaveProperty('user_id');
  });

  it('go with the membership', async () => {
    const user = await member('Users');
    await assign(user, 'Observer', one);
    const removed = await boss.http.delete(`/iam/clients/${boss.clientId}/client-users/${user.id}`);
    expect(removed.status, removed.text).toBe(200);
    expect((await boss.http.get(`${A}?user_id=${user.id}`)).body.count).toBe(0);
  });
});

it('names only operations that there are', async () => {
  const known = new Set((await documentedOperations()).map(({ operation }) => operation.operationId));
  expect(OPERATIONS_OF_EVERYBODY.filter((name) => !known.has(name))).toEqual([]);
});

describe('operations of the whole account', () => {
  it('are refused to who has rights in one project, but for those that show nothing else', async () => {
    const user = await member('Engineers');
    await assign(user, 'ProjectAdministrator', one);
    const operations = (await documentedOperations()).filter(
      ({ path, operation }) =>
        // AI tasks belong to no project.
        /^\/(cloud|tradewind|v1)\/(?!v1\/ai-tasks\/)/.test(path) &&
        !path.includes('{project_id}') &&
        operation.security?.length !== 0,
    );
    const isLast = ({ operation }: (typeof operations)[number]) => Number(operation.operationId === 'endOwnLogins');
    const open = new Set<string>();
    // One of them logs the user out.
    for (const { method, path, prefix, operation } of operations.toSorted((a, b) => isLast(a) - isLast(b))) {
      const answer = await user.http.request(method, prefix + path.replace(/\{[^}]+\}/g, '999999'));
      if (answer.status !== 403) open.add(operation.operationId);
    }
    expect([...open].sort()).toEqual([...OPERATIONS_OF_EVERYBODY].sort());
  });
});

it.each<[string, Parameters<typeof cloudRights>, ReturnType<typeof cloudRights>]>([
  ['none', [[], { groupId: 5, roleId: 5 }], undefined],
  ['an administrator of the account', [[{ project: 1, role: 'Observer' }], { groupId: 1, roleId: 1 }], undefined],
  ['an administrator with a lesser token', [[{ project: 1, role: 'User' }], { groupId: 1, roleId: 2 }], undefined],
  [
    'a project',
    [[{ project: 1, role: 'User' }], { groupId: 2, roleId: 2 }],
    { everywhere: false, projects: { 1: 'User' } },
  ],
  [
    'a lesser token',
    [[{ project: 1, role: 'User' }], { groupId: 5, roleId: 2 }],
    { everywhere: false, projects: { 1: 'Observer' } },
  ],
  [
    'a token that may only purge',
    [[{ project: 1, role: 'User' }], { groupId: 5, roleId: 3009 }],
    { everywhere: false, projects: {} },
  ],
  [
    'the whole account, by a lesser token',
    [[{ project: null, role: 'ClientAdministrator' }], { groupId: 5, roleId: 2 }],
    undefined,
  ],
])('knows the rights of %s', (_, args, expected) => {
  expect(cloudRights(...args)).toEqual(expected);
});
