import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../../../test/support/service.ts';

const GROUPS = '/cloud/v1/securitygroups/1/1';
const EGRESS = { direction: 'egress', ethertype: 'IPv4' };

let service: TestService;
let web: { id: string; address: string };
let store: { id: string; address: string };
let far: { id: string; address: string };
let network: string;
beforeAll(async () => {
  service = await startService();
  network = await newNetwork('near', '10.60.0.0/24');
  [web, store, far] = [
    await newPort(network),
    await newPort(network),
    await newPort(await newNetwork('far', '10.61.0.0/24')),
  ];
});
afterAll(() => service.stop());

async function created(path: string, body: object, kind: string): Promise<string> {
  const { status, text, body: answer } = await service.http.post(path, body);
  expect(status, text).toBe(200);
  const task = await service.http.task(answer.tasks?.[0] ?? answer[0]);
  expect(task).toMatchObject({ state: 'FINISHED' });
  return task.created_resources[kind][0];
}

async function newNetwork(name: string, cidr: string): Promise<string> {
  const id = await created('/cloud/v1/networks/1/1', { name, create_router: false }, 'networks');
  await created('/cloud/v1/subnets/1/1', { name, network_id: id, cidr }, 'subnets');
  return id;
}

async function newPort(networkId: string) {
  const wanted = { type: 'any_subnet', network_id: networkId };
  const id = await created('/cloud/v1/reserved_fixed_ips/1/1', wanted, 'ports');
  const { body } = await service.http.get(`/cloud/v1/ports/1/1/${id}`);
  return { id, address: body.ip_assignments[0].ip_address };
}

async function newGroup(...rules: object[]) {
  const security_group = { name: randomUUID(), security_group_rules: rules };
  const { status, text, body } = await service.http.post(GROUPS, { security_group });
  expect(status, text).toBe(200);
  return body;
}

async function put(port: { id: string }, ...groups: { id: string }[]) {
  const security_group_ids = groups.map(({ id }) => id);
  const { status, text, body } = await service.http.patch(`/cloud/v1/ports/1/1/${port.id}`, {
    security_group_ids,
  });
  expect(status, text).toBe(200);
  expect(await service.http.task(body.tasks?.[0] ?? body[0])).toMatchObject({ state: 'FINISHED' });
}

const ask = (query: Record<string, string>, http = service.http) =>
  http.get(`/tradewind/v1/reachability?${new URLSearchParams(query)}`);

async function answer(query: Record<string, string>) {
  const { status, text, body } = await ask(query);
  expect(status, text).toBe(200);
  return body;
}

describe('between two ports of a network', () => {
  it('names the rules of both sides', async () => {
    const client = await newGroup(EGRESS);
    const server = await newGroup({
      direction: 'ingress',
      ethertype: 'IPv4',
      protocol: 'tcp',
      port_range_min: 5432,
      port_range_max: 5432,
      remote_group_id: client.id,
    });
    await put(web, client);
    await put(store, server);
    const body = await answer({ from: web.id, to: store.id, protocol: 'tcp', port: '5432' });
    expect(body).toMatchObject({
      allowed: true,
      path: 'network',
      flows: [
        {
          ethertype: 'IPv4',
          from_address: web.address,
          to_address: store.address,
          allowed: true,
          egress: { port_id: web.id, reason: 'rule', rule: { security_group_id: client.id } },
          ingress: { port_id: store.id, reason: 'rule', rule: { id: server.security_group_rules[0].id } },
        },
      ],
    });
  });

  it('says which rule is missing, and is right about it', async () => {
    const client = await newGroup(EGRESS);
    const server = await newGroup(EGRESS);
    await put(web, client);
    await put(store, server);
    const query = { from: web.id, to: store.id, protocol: 'udp', port: '53' };
    const before = await answer(query);
    expect(before).toMatchObject({
      allowed: false,
      flows: [{ egress: { allowed: true }, ingress: { allowed: false, reason: 'no rule', rule: null } }],
    });
    const { missing } = before.flows[0].ingress;
    expect(missing).toEqual({
      direction: 'ingress',
      ethertype: 'IPv4',
      protocol: 'udp',
      port_range_min: 53,
      port_range_max: 53,
      remote_ip_prefix: `${web.address}/32`,
    });
    const added = await service.http.post(`${GROUPS}/${server.id}/rules`, missing);
    expect(added.status, added.text).toBe(200);
    expect(await answer(query)).toMatchObject({
      allowed: true,
      flows: [{ ingress: { rule: { id: added.body.id } } }],
    });
    expect(await answer({ ...query, port: '54' })).toMatchObject({ allowed: false });
    expect(await answer({ from: web.id, to: store.id })).toMatchObject({ allowed: false });
  });

  it('lets everything to a port without port security', async () => {
    await put(web, await newGroup(EGRESS));
    const open = await newPort(network);
    const off = await service.http.post(`/cloud/v1/ports/1/1/${open.id}/disable_port_security`);
    expect(off.status, off.text).toBe(200);
    expect(await answer({ from: web.id, to: open.id })).toMatchObject({
      allowed: true,
      flows: [{ ingress: { reason: 'port security is off', rule: null, missing: null } }],
    });
  });
});

describe('between two networks', () => {
  it('needs a router', async () => {
    const open = await newGroup(EGRESS, { direction: 'ingress', ethertype: 'IPv4' });
    await put(web, open);
    await put(far, open);
    const query = { from: web.id, to: far.id, protocol: 'icmp' };
    expect(await answer(query)).toMatchObject({ allowed: false, path: 'none', flows: [{ allowed: true }] });
    const subnets = await service.http.get('/cloud/v1/subnets/1/1');
    const interfaces = subnets.body.results
      .filter(({ name }: { name: string }) => ['near', 'far'].includes(name))
      .map(({ id }: { id: string }) => ({ type: 'subnet', subnet_id: id }));
    expect(interfaces).toHaveLength(2);
    const router = await created('/cloud/v1/routers/1/1', { name: 'between', interfaces }, 'routers');
    expect(await answer(query)).toMatchObject({ allowed: true, path: 'router' });
    // Its interfaces are ports as well.
    const { body } = await service.http.get(`/cloud/v1/routers/1/1/${router}`);
    const [{ port_id: gateway }] = body.interfaces;
    expect(await answer({ from: web.id, to: gateway })).toMatchObject({
      flows: [{ ingress: { port_id: gateway, reason: 'port security is off' } }],
    });
  });
});

describe('an address', () => {
  it('is judged by the rules of the port at the other end', async () => {
    const rule = { direction: 'ingress', ethertype: 'IPv4', remote_ip_prefix: '203.0.113.0/24' };
    await put(web, await newGroup(EGRESS, rule));
    expect(await answer({ from: '203.0.113.7', to: web.id })).toMatchObject({
      allowed: true,
      path: null,
      flows: [{ from_address: '203.0.113.7', egress: null, ingress: { allowed: true } }],
    });
    expect(await answer({ from: '203.0.114.7', to: web.id })).toMatchObject({ allowed: false });
    expect(await answer({ from: web.id, to: '198.51.100.1' })).toMatchObject({
      allowed: true,
      flows: [{ egress: { allowed: true }, ingress: null }],
    });
  });

  it('of the other IP version has no way', async () => {
    expect(await answer({ from: '2001:db8::1', to: web.id })).toEqual({
      allowed: false,
      path: null,
      flows: [],
    });
  });
});

describe('is refused', () => {
  const PORT = randomUUID();
  it.each<[Record<string, string>, string]>([
    [{ from: 'web', to: PORT }, 'from'],
    [{ from: PORT, to: '10.0.0.0/8' }, 'to'],
    [{ from: '10.0.0.1', to: '10.0.0.2' }, 'to'],
    [{ from: PORT, to: '10.0.0.2', port: '80' }, 'port'],
    [{ from: PORT, to: '10.0.0.2', protocol: 'icmp', port: '80' }, 'port'],
    [{ from: PORT, to: '10.0.0.2', protocol: 'quic' }, 'protocol'],
    [{ from: PORT }, 'to'],
  ])('%j, because of %s', async (query, field) => {
    const { status, body } = await ask(query);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(field);
  });

  it('without a token, and for what is unknown or not the own', async () => {
    const query = { from: web.id, to: '10.0.0.2' };
    expect((await ask(query, service.anonymous)).status).toBe(401);
    const other = await service.otherTenant();
    const foreign = await ask(query, other.http);
    const unknown = await ask({ ...query, from: randomUUID() }, other.http);
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
  });
});
