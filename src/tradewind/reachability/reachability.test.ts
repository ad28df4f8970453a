import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyEmail, bearer, comes, logIn } from '../../../test/support/logins.ts';
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

const askAll = (body: object, http = service.http) => http.post('/tradewind/v1/reachability', body);

async function pairsOf(
  body: object,
): Promise<{ from: string; to: string; allowed: boolean; drafted: boolean | null; ip_versions: object[] }[]> {
  const { status, text, body: answered } = await askAll(body);
  expect(status, text).toBe(200);
  return answered.pairs;
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

describe('the internet', () => {
  it('is let pass by rules for any address alone', async () => {
    const https = {
      direction: 'ingress',
      ethertype: 'IPv4',
      protocol: 'tcp',
      port_range_min: 443,
      port_range_max: 443,
    };
    const group = await newGroup({ ...https, remote_ip_prefix: '128.0.0.0/1' }, { ...EGRESS, protocol: 'udp' });
    await put(web, group);
    const query = { from: 'internet', to: web.id, protocol: 'tcp', port: '443' };
    const before = await answer(query);
    expect(before).toMatchObject({
      allowed: false,
      path: null,
      flows: [{ from_address: 'internet', to_address: web.address, egress: null, ingress: { allowed: false } }],
    });
    const { missing } = before.flows[0].ingress;
    expect(missing).toMatchObject({ port_range_min: 443, remote_ip_prefix: null });
    const added = await service.http.post(`${GROUPS}/${group.id}/rules`, missing);
    expect(added.status, added.text).toBe(200);
    expect(await answer(query)).toMatchObject({ allowed: true });
    expect(await answer({ from: web.id, to: 'internet', protocol: 'udp' })).toMatchObject({
      allowed: true,
      flows: [{ from_address: web.address, to_address: 'internet', egress: { allowed: true }, ingress: null }],
    });
  });
});

describe('many pairs', () => {
  const TCP = { protocol: 'tcp', port: 443 };
  const opened = { direction: 'ingress', protocol: 'tcp', port_range_min: 443, port_range_max: 443 };

  it('are told as each of them is', async () => {
    const inside = await newGroup(EGRESS, { direction: 'ingress', remote_ip_prefix: '10.60.0.0/24' });
    await put(web, inside);
    await put(store, inside, await newGroup(EGRESS, opened));
    await put(far, await newGroup(EGRESS));
    const ends = [web.id, store.id.toUpperCase(), far.id, 'internet', '203.0.113.7', '2001:DB8::1'];
    const pairs = await pairsOf({ from: [...ends, web.id.toUpperCase()], to: ends, ...TCP });
    const asked = pairs.map(({ from, to }) => `${from} ${to}`);
    // Three ports with the others, and three ends that are none with the ports. The port that is named twice counts once.
    expect(new Set(asked).size).toBe(3 * 5 + 3 * 3);
    expect(asked).toHaveLength(new Set(asked).size);
    for (const { from, to, ip_versions, ...told } of pairs) {
      const { allowed, path, flows } = await answer({ from, to, protocol: 'tcp', port: '443' });
      expect(told, `${from} ${to}`).toEqual({ allowed, path, drafted: null });
      const versions = new Set(flows.map(({ ethertype }: { ethertype: string }) => ethertype));
      expect(ip_versions, `${from} ${to}`).toEqual(
        [...versions].map((ethertype) => ({ ethertype, allowed, drafted: null })),
      );
    }
    expect(new Set(pairs.map(({ allowed }) => allowed))).toEqual(new Set([true, false]));
  });

  it('are told by drafts as they will be', async () => {
    const server = await newGroup(EGRESS, { direction: 'ingress', remote_ip_prefix: '10.60.0.0/24' });
    const client = await newGroup(EGRESS);
    await put(web, client);
    await put(store, server);
    const from = [web.id, 'internet'];
    const drafts = [
      { security_group_id: server.id.toUpperCase(), rules: [{ ...opened, remote_ip_prefix: null }, EGRESS] },
      { security_group_id: client.id, rules: [] },
    ];
    const told = await pairsOf({ from, to: [store.id], ...TCP, drafts });
    expect(told).toMatchObject([
      { from: web.id, allowed: true, drafted: false },
      { from: 'internet', allowed: false, drafted: true },
    ]);
    for (const { security_group_id, rules } of drafts) {
      const { status, text } = await service.http.patch(`/cloud/v2/security_groups/1/1/${security_group_id}`, {
        rules,
      });
      expect(status, text).toBe(200);
    }
    const after = await pairsOf({ from, to: [store.id], ...TCP });
    expect(after.map(({ allowed }) => allowed)).toEqual(told.map(({ drafted }) => drafted));
  });

  it('are one for ends that are spelt in different ways', async () => {
    const pairs = await pairsOf({
      from: [web.id.toUpperCase(), web.id, '2001:db8::1', '2001:DB8:0::1'],
      to: [web.id, far.id, far.id.toUpperCase()],
    });
    expect(pairs.map(({ from, to }) => [from, to])).toEqual([
      [web.id.toUpperCase(), far.id],
      ['2001:db8::1', web.id],
      ['2001:db8::1', far.id],
    ]);
  });

  it('are told for each IP version', async () => {
    const dual = await newNetwork('dual', '10.62.0.0/24');
    await created('/cloud/v1/subnets/1/1', { name: 'six', network_id: dual, cidr: 'fd00:62::/64' }, 'subnets');
    const port = await newPort(dual);
    const added = await service.pool.query(
      `insert into ip_assignments (port_id, subnet_id, address)
      select $1, id, 'fd00:62::99' from subnets where network_id = $2 and name = 'six'`,
      [port.id, dual],
    );
    expect(added.rowCount).toBe(1);
    const group = await newGroup(opened);
    await put(port, group);
    const drafts = [{ security_group_id: group.id, rules: [opened, { ...opened, ethertype: 'IPv6' }] }];
    const pairs = await pairsOf({ from: ['internet', '2001:db8::1', '203.0.113.7'], to: [port.id], ...TCP, drafts });
    const IPV4 = { ethertype: 'IPv4', allowed: true, drafted: true };
    const IPV6 = { ethertype: 'IPv6', allowed: false, drafted: true };
    expect(pairs).toMatchObject([
      { allowed: true, drafted: true, ip_versions: [IPV4, IPV6] },
      { allowed: false, drafted: true, ip_versions: [IPV6] },
      { allowed: true, drafted: true, ip_versions: [IPV4] },
    ]);
  });

  it('are told as each of them is, for blocks of addresses inside others', async () => {
    const of = (remote_ip_prefix: string) => ({ direction: 'ingress', remote_ip_prefix });
    const nested = ['10.0.0.0/8', '10.0.0.0/24', '10.0.0.77/24', '203.0.113.8/30', '203.0.113.9', '192.0.2.255/32'];
    await put(web, await newGroup(...new Set(nested.map(of))));
    const from = ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0', '203.0.113.7', '203.0.113.11'];
    for (const pair of await pairsOf({
      from: [...from, '192.0.2.254', '192.0.2.255', '255.255.255.255'],
      to: [web.id],
    })) {
      const { allowed } = await answer({ from: pair.from, to: web.id });
      expect(pair.allowed, pair.from).toBe(allowed);
    }
  });

  it.each<[object, string]>([
    [{ from: [] }, 'from'],
    [{ to: Array.from({ length: 33 }, () => 'internet') }, 'to'],
    [{ from: ['internet', 'web'] }, 'from.1'],
    [{ to: ['10.0.0.1', 'internet'] }, 'to'],
    [{ port: 80, protocol: 'icmp' }, 'port'],
    [{ drafts: [] }, 'drafts'],
    [{ drafts: Array.from({ length: 5 }, () => ({ security_group_id: randomUUID(), rules: [] })) }, 'drafts'],
    [{ drafts: [{ security_group_id: randomUUID(), rules: Array.from({ length: 251 }, () => EGRESS) }] }, 'rules'],
    [{ drafts: [{ security_group_id: randomUUID(), rules: [{ ...opened, protocol: null }] }] }, 'drafts.0.rules.0'],
  ])('are refused for %j', async (given, field) => {
    const { status, text } = await askAll({ from: ['internet'], to: [web.id], ...given });
    expect(status, text).toBe(400);
    expect(text).toContain(field);
  });

  it('are refused for groups that are unknown, not the own, twice, or have a rule twice', async () => {
    const group = await newGroup(EGRESS);
    const status = async (rules: object[], http = service.http, id = group.id, more: object[] = []) =>
      (await askAll({ from: ['internet'], to: [web.id], drafts: [{ security_group_id: id, rules }, ...more] }, http))
        .status;
    expect(await status([opened])).toBe(200);
    expect(await status([opened, { ...opened, remote_ip_prefix: '0.0.0.0/0' }])).toBe(409);
    expect(await status([], service.http, group.id, [{ security_group_id: group.id.toUpperCase(), rules: [] }])).toBe(
      400,
    );
    expect(await status([], service.http, randomUUID())).toBe(404);
    expect(await status([{ ...opened, remote_group_id: randomUUID() }])).toBe(404);
    const other = await service.otherTenant();
    const [own] = (await other.http.get(`/cloud/v1/securitygroups/${other.projectId}/1`)).body.results;
    const missing = async (id: string) => {
      const drafts = [{ security_group_id: id, rules: [] }];
      const refused = await askAll({ from: ['internet'], to: [web.id], drafts }, other.http);
      expect(refused.status).toBe(404);
      return /Security group|Port/.exec(refused.text)?.[0];
    };
    const ids = [own.id, group.id, randomUUID()];
    expect(await Promise.all(ids.map(missing))).toEqual(['Port', 'Security group', 'Security group']);
  });
});

describe('is refused', () => {
  const PORT = randomUUID();
  it.each<[Record<string, string>, string]>([
    [{ from: 'web', to: PORT }, 'from'],
    [{ from: PORT, to: '10.0.0.0/8' }, 'to'],
    [{ from: '10.0.0.1', to: '10.0.0.2' }, 'to'],
    [{ from: 'internet', to: '10.0.0.2' }, 'to'],
    [{ from: PORT, to: 'Internet' }, 'to'],
    [{ from: PORT, to: '10.0.0.2', port: '80' }, 'port'],
    [{ from: PORT, to: '10.0.0.2', protocol: 'icmp', port: '80' }, 'port'],
    [{ from: PORT, to: '10.0.0.2', protocol: 'quic' }, 'protocol'],
    [{ from: PORT }, 'to'],
  ])('%j, because of %s', async (query, field) => {
    const { status, body } = await ask(query);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(field);
  });

  it('for ports and groups of projects in which the caller has no role', async () => {
    const email = anyEmail();
    const user_id = await comes({ http: service.http, clientId: 1 }, email, { name: 'Engineers' });
    const http = bearer(service.url, await logIn(service.anonymous, email));
    const assign = async (project_id: number) => {
      const wanted = { user_id, client_id: 1, project_id, role: 'Observer' };
      const { status, text } = await service.http.post('/cloud/v1/users/assignments', wanted);
      expect(status, text).toBe(200);
    };
    await assign((await service.http.post('/cloud/v1/projects', { name: 'elsewhere' })).body.id);
    const group = await newGroup(EGRESS);
    const drafts = [{ security_group_id: group.id, rules: [] }];
    const statuses = async () => [
      (await ask({ from: web.id, to: 'internet' }, http)).status,
      (await askAll({ from: [web.id], to: ['internet'] }, http)).status,
      (await askAll({ from: [web.id], to: ['internet'], drafts }, http)).status,
    ];
    expect(await statuses()).toEqual([404, 404, 404]);
    await assign(1);
    expect(await statuses()).toEqual([200, 200, 200]);
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
