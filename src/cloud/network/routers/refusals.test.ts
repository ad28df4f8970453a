import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import type { Answer, HttpClient } from '../../../../test/support/http-client.ts';
import { documentedOperations } from '../../../../test/support/openapi.ts';
import { borrowService, type Tenant, type TestService } from '../../../../test/support/service.ts';

/** What the documents say that operations on routers refuse: each status, and each 409 for its own reason. */

const ROUTERS = '/cloud/v1/routers/1/1';
const NETWORKS = '/cloud/v1/networks/1/1';
const SUBNETS = '/cloud/v1/subnets/1/1';
const FLOATING = '/cloud/v1/floatingips/1/1';
const UNKNOWN = crypto.randomUUID();

const documented = (await documentedOperations()).filter(
  ({ prefix, operation }) => prefix === '' && operation.tags?.includes('Routers'),
);
/** They come before an operation is reached, alike for all; test/meta provokes them. */
const EVERYWHERE = ['413', '415', '422', '429', '500'];

let service: TestService;
let http: HttpClient;
let rightless: HttpClient;
let other: Tenant;
/** Subnets and routers by what they are good for. */
const subnets: Record<string, string> = {};
const routers: Record<string, string> = {};
let outside: string;
let floatingAddress: string;

async function made(path: string, body: object): Promise<Record<string, string[]>> {
  const answer = await http.post(path, body);
  expect(answer.status, answer.text).toBe(200);
  const task = await http.task(answer.body[0]);
  expect(task.state, task.error).toBe('FINISHED');
  return task.created_resources;
}
const only = (ids: string[] | undefined): string => ids?.[0] ?? 'missing';
const subnet = async (cidr: string) => {
  const { networks } = await made(NETWORKS, { name: 'apart', create_router: false });
  return only((await made(SUBNETS, { name: 'apart', network_id: only(networks), cidr })).subnets);
};
const router = async (body: object = {}) => only((await made(ROUTERS, { name: 'router', ...body })).routers);

beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  rightless = await service.withRole('Purge and Prefetch only (API)');
  other = await service.otherTenant();
  const [external] = (await http.get(`${NETWORKS}?owned_by=any&external=true`)).body.results;
  outside = external.id;
  const ranges: string[] = await Promise.all(
    external.subnets.map(async (id: string) => (await http.get(`${SUBNETS}/${id}`)).body.cidr),
  );
  const ranged = {
    used: '10.60.0.0/24',
    inUsed: '10.60.0.0/25',
    aroundUsed: '10.60.0.0/16',
    free: '10.61.0.0/24',
    routed: '10.62.0.0/24',
    held: '10.63.0.0/24',
    likeOutside: ranges.find((cidr) => !cidr.includes(':')) ?? 'missing',
  };
  for (const [name, cidr] of Object.entries(ranged)) subnets[name] = await subnet(cidr);
  const interfaces = (name: string) => ({ interfaces: [{ subnet_id: subnets[name] }] });
  routers.used = await router({ external_gateway_info: {}, ...interfaces('used') });
  routers.routed = await router({
    ...interfaces('routed'),
    routes: [{ destination: '192.168.0.0/16', nexthop: '10.62.0.9' }],
  });
  routers.inside = await router(interfaces('likeOutside'));
  routers.free = await router();
  routers.out = await router({ external_gateway_info: {} });
  routers.held = await router(interfaces('held'));
  const { network_id } = (await http.get(`${SUBNETS}/${subnets.used}`)).body;
  const { ports } = await made('/cloud/v2/instances/1/1', {
    name: 'web-1',
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'any_subnet', network_id }],
    volumes: [BOOT_VOLUME],
  });
  const { floatingips } = await made(FLOATING, { port_id: only(ports) });
  floatingAddress = (await http.get(`${FLOATING}/${only(floatingips)}`)).body.floating_ip_address;
  await service.pool.query('update routers set task_id = gen_random_uuid() where id = $1', [routers.held]);
  await service.pool.query('update subnets set task_id = gen_random_uuid() where id = $1', [subnets.held]);
});
afterAll(() => service.stop());

const at = (name: string) => `${ROUTERS}/${routers[name] ?? name}`;
const at2 = (name: string) => at(name).replace('/v1/', '/v2/');
const create = (body: object) => http.post(ROUTERS, { name: 'refused', ...body });
const withSubnets = (...names: string[]) => ({
  interfaces: names.map((name) => ({ subnet_id: subnets[name] ?? name })),
});
const gateway = () => ({ external_gateway_info: { network_id: outside } });
const WITHOUT = { external_gateway_info: null };
const UNREACHABLE = { routes: [{ destination: '192.168.0.0/16', nexthop: '10.99.0.1' }] };
const join = (verb: 'attach' | 'detach', name: string, subnetName: string, body: object = {}) =>
  http.post(`${at(name)}/${verb}`, { subnet_id: subnets[subnetName] ?? subnetName, ...body });

/** A request of each operation that would be accepted. */
const REQUESTS: Record<string, { method: string; path: () => string; body?: () => object }> = {
  listRouters: { method: 'GET', path: () => ROUTERS },
  getRouter: { method: 'GET', path: () => at('free') },
  getRouterMetrics: {
    method: 'POST',
    path: () => `${at('free')}/metrics`,
    body: () => ({ time_unit: 'hour', time_interval: 1 }),
  },
  createRouter: { method: 'POST', path: () => ROUTERS, body: () => ({ name: 'accepted' }) },
  updateRouterNow: { method: 'PATCH', path: () => at('free'), body: () => ({ name: 'accepted' }) },
  updateRouter: { method: 'PATCH', path: () => at2('free'), body: () => ({ name: 'accepted again' }) },
  deleteRouter: { method: 'DELETE', path: () => at('free') },
  attachSubnetToRouter: {
    method: 'POST',
    path: () => `${at('free')}/attach`,
    body: () => ({ subnet_id: subnets.free }),
  },
  detachSubnetFromRouter: {
    method: 'POST',
    path: () => `${at('routed')}/detach`,
    body: () => ({ subnet_id: subnets.routed }),
  },
};

function send(
  operationId: string,
  client: HttpClient,
  headers: Record<string, string> = {},
  change = (path: string) => path,
) {
  const request = REQUESTS[operationId];
  if (!request) throw new Error(`no request of ${operationId}`);
  const { method, path, body } = request;
  return client.request(method, change(path()), { headers, ...(body && { body: body() }) });
}

/** They change nothing, so no version can be in their way. */
const ASKING = ['getRouter', 'getRouterMetrics'];

type Case = [operationId: string, status: number, text: string, provoke: () => Promise<Answer>];
const changes = ['updateRouterNow', 'updateRouter'] as const;
const change = { updateRouterNow: at, updateRouter: at2 };

const cases: Case[] = [
  ...Object.keys(REQUESTS).flatMap((id): Case[] => [
    [id, 401, '', () => send(id, service.anonymous)],
    [id, 403, '', () => send(id, rightless)],
    [id, 404, 'roject', () => send(id, other.http)],
    [id, 400, 'no_such', () => send(id, http, {}, (path) => `${path}?no_such=1`)],
  ]),
  ...Object.keys(REQUESTS)
    .filter((id) => !['listRouters', 'createRouter'].includes(id))
    .flatMap((id): Case[] => [
      [
        id,
        404,
        'not found',
        () => send(id, other.http, {}, (path) => path.replace('/routers/1/', `/routers/${other.projectId}/`)),
      ],
      [id, 404, 'not found', () => send(id, http, {}, (path) => path.replace(/[0-9a-f-]{36}/, UNKNOWN))],
      ...(ASKING.includes(id) ? [] : ([[id, 412, '', () => send(id, http, { 'if-match': '"0"' })]] satisfies Case[])),
    ]),
  ['createRouter', 409, 'overlaps', () => create(withSubnets('inUsed', 'aroundUsed'))],
  ['createRouter', 409, 'overlaps', () => create({ ...gateway(), ...withSubnets('likeOutside') })],
  ['createRouter', 409, 'is held by task', () => create(withSubnets('held'))],
  ['createRouter', 400, 'No subnet', () => create(withSubnets(UNKNOWN))],
  ['createRouter', 400, 'routes.0.nexthop', () => create(UNREACHABLE)],
  ...changes.flatMap((id): Case[] => [
    [id, 400, 'routes.0.nexthop', () => http.patch(change[id]('free'), UNREACHABLE)],
    [id, 409, 'is held by task', () => http.patch(change[id]('held'), { name: 'refused' })],
    [id, 409, 'unassign them first', () => http.patch(change[id]('used'), WITHOUT)],
    [id, 409, 'of the external network', () => http.patch(change[id]('inside'), gateway())],
  ]),
  ['deleteRouter', 409, 'is held by task', () => http.delete(at('held'))],
  ['deleteRouter', 409, 'unassign them first', () => http.delete(at('used'))],
  ['attachSubnetToRouter', 400, 'No subnet', () => join('attach', 'free', UNKNOWN)],
  ['attachSubnetToRouter', 409, 'already attached', () => join('attach', 'used', 'used')],
  ['attachSubnetToRouter', 409, 'overlaps', () => join('attach', 'used', 'inUsed')],
  ['attachSubnetToRouter', 409, 'overlaps', () => join('attach', 'out', 'likeOutside')],
  [
    'attachSubnetToRouter',
    409,
    'Another router has',
    () => join('attach', 'free', 'used', { ip_address: '10.60.0.1' }),
  ],
  ['attachSubnetToRouter', 409, 'already in use', () => join('attach', 'free', 'used', { ip_address: '10.60.0.2' })],
  ['attachSubnetToRouter', 409, 'Router', () => join('attach', 'held', 'free')],
  ['attachSubnetToRouter', 409, 'Subnet', () => join('attach', 'free', 'held')],
  ['detachSubnetFromRouter', 400, 'is not attached', () => join('detach', 'free', 'free')],
  ['detachSubnetFromRouter', 409, 'has routes through', () => join('detach', 'routed', 'routed')],
  ['detachSubnetFromRouter', 409, 'unassign them first', () => join('detach', 'used', 'used')],
  ['detachSubnetFromRouter', 409, 'is held by task', () => join('detach', 'held', 'held')],
];

it('covers every operation, and every status that its document names', () => {
  const provoked = new Map(Object.keys(REQUESTS).map((id) => [id, new Set<string>()]));
  for (const [id, status] of cases) provoked.get(id)?.add(String(status));
  const named = documented.map(({ operation }) => [
    operation.operationId,
    Object.keys(operation.responses).filter((status) => status !== '200' && !EVERYWHERE.includes(status)),
  ]);
  expect(Object.fromEntries([...provoked].map(([id, statuses]) => [id, [...statuses].sort()]))).toEqual(
    Object.fromEntries(named),
  );
});

/** Everything that a refused request could have changed. */
async function state() {
  const rows = await Promise.all(
    [
      'select * from routers order by id',
      'select * from router_interfaces order by port_id',
      'select * from ip_assignments order by subnet_id, address',
      "select * from quota_usage where attribute = 'router_count' order by client_id, region_id",
      "select kind, id, spec, generation from wants where kind in ('router', 'floating_ip') order by id",
      'select id from tasks order by id',
    ].map(async (query) => (await service.pool.query(query)).rows),
  );
  return rows;
}

describe('a refusal changes nothing', () => {
  it.each(cases)('%s: %i %s', async (_id, status, text, provoke) => {
    const before = await state();
    const answer = await provoke();
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)]);
    expect(await state()).toEqual(before);
  });

  it('names the floating IP that needs the router', async () => {
    expect((await http.delete(at('used'))).text).toContain(floatingAddress);
  });

  it('while the external network has no address left', async () => {
    const { rowCount } = await service.pool.query(
      `insert into ip_assignments (subnet_id, address, router_id)
       select subnets.id, first_address + n, $2 from subnets
       join networks on networks.id = network_id, generate_series(0, last_address - first_address) as n
       where networks.id = $1 and family(cidr) = 4 on conflict do nothing`,
      [outside, routers.held],
    );
    expect(rowCount).toBeGreaterThan(4_000);
    const before = await state();
    const network = { name: 'routed' };
    for (const answer of [
      await create({ external_gateway_info: {} }),
      await http.patch(at('free'), gateway()),
      await http.patch(at2('free'), gateway()),
      await http.post(NETWORKS, network),
    ]) {
      expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('has no free addresses')]);
    }
    expect(await state()).toEqual(before);
    await made(NETWORKS, { ...network, create_router: false });
    await service.pool.query('delete from ip_assignments where router_id = $1', [routers.held]);
    await made(NETWORKS, network);
  });
});

it('would have accepted the requests that were refused for who asked', async () => {
  for (const id of Object.keys(REQUESTS).filter((one) => one !== 'deleteRouter')) {
    await http.patch(at('routed'), { routes: [] });
    const answer = await send(id, http);
    expect([id, answer.status, answer.text]).toEqual([id, 200, expect.any(String)]);
    if (id === 'updateRouter' || id === 'createRouter') await http.task(answer.body[0] ?? 'none');
  }
  await http.task((await send('deleteRouter', http)).body[0]);
});
