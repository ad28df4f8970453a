import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import type { HttpClient } from '../../../../test/support/http-client.ts';
import { clusterBody } from '../../../../test/support/possessions.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';
import { canonicalAddress } from '../../../lib/cidr.ts';

const NETWORKS = '/cloud/v1/networks/1/1';
const SUBNETS = '/cloud/v1/subnets/1/1';
const I = '/cloud/v1/instances/1/1';
const RESERVED = '/cloud/v1/reserved_fixed_ips/1/1';
/** The base path that also takes older fields. */
const LEGACY = '/gcore';

let service: TestService;
let http: HttpClient;
/** A network with a subnet of each family. */
let dual: { network: string; v4: string; v6: string };
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  const network = await newNetwork('dual');
  const v4 = (await newSubnet(network, { cidr: '10.50.0.0/24' })).id;
  const v6 = (await newSubnet(network, { cidr: 'fd00:50::/64' })).id;
  dual = { network, v4, v6 };
});
afterAll(() => service.stop());

async function done(answer: { status: number; body: string[] | { tasks: string[] }; text: string }) {
  expect(answer.status, answer.text).toBe(200);
  const [id = ''] = Array.isArray(answer.body) ? answer.body : answer.body.tasks;
  const task = await http.task(id);
  expect(task.state, task.error).toBe('FINISHED');
  return task.created_resources;
}

const newNetwork = async (name: string): Promise<string> =>
  (await done(await http.post(NETWORKS, { name }))).networks[0];

const postSubnet = (network_id: string, body: object) => http.post(SUBNETS, { name: 'part', network_id, ...body });

async function newSubnet(network: string, body: object) {
  const made = await done(await postSubnet(network, body));
  return (await http.get(`${SUBNETS}/${made.subnets[0]}`)).body;
}

const postInstance = (interfaces: object[], more: object = {}, base = '') =>
  http.post(`${base}/cloud/v2/instances/1/1`, {
    name: 'guest',
    flavor: 'g1-standard-1-2',
    interfaces,
    volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }],
    ...more,
  });

async function newInstance(interfaces: object[], more: object = {}, base = '') {
  const made = await done(await postInstance(interfaces, more, base));
  const { body } = await http.get(`${I}/${made.instances[0]}`);
  return { ...body, ports: made.ports as string[] };
}

const addressesOf = (instance: { fixed_ip_assignments: { ip_address: string }[] }) =>
  instance.fixed_ip_assignments.map(({ ip_address }) => ip_address);
const inDual = (more: object = {}) => ({ type: 'any_subnet', network_id: dual.network, ...more });

async function refused(answer: { status: number; text: string; body: { invalid_fields?: object } }) {
  expect(answer.status, answer.text).toBe(400);
  return Object.keys(answer.body.invalid_fields ?? {});
}

describe('a subnet of IPv6', () => {
  it('is shown in its one form, with its family, gateway and counts that can be said', async () => {
    const network = await newNetwork('six');
    const shown = await newSubnet(network, {
      cidr: 'FD00:0051:0::/120',
      ip_version: 6,
      dns_nameservers: ['2620:FE::FE'],
      host_routes: [{ destination: 'FD00:60::/48', nexthop: 'fd00:51::0:5' }],
    });
    expect(shown).toMatchObject({
      cidr: 'fd00:51::/120',
      ip_version: 6,
      enable_dhcp: true,
      gateway_ip: 'fd00:51::1',
      dns_nameservers: ['2620:fe::fe'],
      host_routes: [{ destination: 'fd00:60::/48', nexthop: 'fd00:51::5' }],
      total_ips: 254,
      available_ips: 254,
    });
    const none = { gateway_ip: null, connect_to_network_router: false };
    expect(await newSubnet(network, { cidr: 'fd00:52::/120', ...none })).toMatchObject({
      gateway_ip: null,
      total_ips: 255,
    });
  });

  it('has null for counts that most clients could not read, and others where they could', async () => {
    const network = await newNetwork('large');
    const shown = await Promise.all(
      ['fd00:1::/64', 'fd00:2::/75', 'fd00:3::/76', '2a00::/32'].map((cidr) => newSubnet(network, { cidr })),
    );
    expect(shown.map(({ total_ips, available_ips }) => [total_ips, available_ips])).toEqual([
      [null, null],
      [2 ** 53 - 2, 2 ** 53 - 2],
      [2 ** 52 - 2, 2 ** 52 - 2],
      [null, null],
    ]);
    const ordered = await http.get(`${SUBNETS}?network_id=${network}&order_by=total_ips.asc`);
    expect(ordered.body.results.map(({ cidr }: { cidr: string }) => cidr)).toEqual([
      'fd00:3::/76',
      'fd00:2::/75',
      'fd00:1::/64',
      '2a00::/32',
    ]);
    const { rows } = await service.pool.query(
      `select cidr::text, total_ips from subnets where network_id = $1 order by total_ips desc limit 1`,
      [network],
    );
    expect(rows).toEqual([{ cidr: '2a00::/32', total_ips: (2n ** 96n - 2n).toString() }]);
  });

  it('overlaps no other of its family, and hands out nothing of its gateway', async () => {
    const network = await newNetwork('tight');
    const subnet = await newSubnet(network, { cidr: 'fd00:53::/125', gateway_ip: 'fd00:53::2' });
    expect(subnet).toMatchObject({ total_ips: 6, available_ips: 6 });
    expect((await postSubnet(network, { cidr: 'fd00:53::/64' })).status).toBe(409);
    const wish = { type: 'any_subnet', network_id: network, ip_family: 'ipv6' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => postInstance([wish])));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 200, 200, 200, 200, 200, 409, 409,
    ]);
    const { rows } = await service.pool.query(
      'select host(address) as address from ip_assignments where subnet_id = $1 order by ip_assignments.address',
      [subnet.id],
    );
    expect(rows.map(({ address }) => address)).toEqual([1, 2, 3, 4, 5, 6, 7].map((end) => `fd00:53::${end}`));
    expect((await postInstance([{ ...wish, ip_address: 'fd00:53::2' }])).status).toBe(409);
    const moved = await http.patch(`${SUBNETS}/${subnet.id}`, { gateway_ip: null });
    expect(moved.body).toMatchObject({ gateway_ip: null, total_ips: 7, available_ips: 1 });
    await newInstance([{ ...wish, ip_address: 'FD00:53:0::2' }]);
  });

  it('changes its routes and its gateway within its family alone', async () => {
    const path = `${SUBNETS}/${dual.v6}`;
    expect(await refused(await http.patch(path, { gateway_ip: '10.50.0.9' }))).toEqual(['gateway_ip']);
    const route = { destination: '10.0.0.0/8', nexthop: '10.50.0.9' };
    expect(await refused(await http.patch(path, { host_routes: [route] }))).toEqual([
      'host_routes.0.destination',
      'host_routes.0.nexthop',
    ]);
  });
});

it('PostgreSQL writes addresses as we do, so that one address is never two', async () => {
  let seed = 1;
  const group = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % 3 === 0 ? seed % 65_536 : 0;
  };
  const ours = Array.from({ length: 2_000 }, (_, index) => {
    const groups = [index % 2 ? 0xfd00 : 0x2a00, ...Array.from({ length: 7 }, group)];
    return canonicalAddress(groups.map((one) => one.toString(16)).join(':'))?.address;
  });
  const { rows } = await service.pool.query(
    'select array_agg(host(address) order by place) as theirs from unnest($1::inet[]) with ordinality as given (address, place)',
    [ours],
  );
  expect(rows[0].theirs).toEqual(ours);
});

describe('an interface', () => {
  it.each([
    [undefined, [/^10\.50\./]],
    [null, [/^10\.50\./]],
    ['ipv4', [/^10\.50\./]],
    ['ipv6', [/^fd00:50::/]],
    ['dual', [/^10\.50\./, /^fd00:50::/]],
  ])('of ip_family %s has as many addresses, IPv4 first', async (ip_family, patterns) => {
    const instance = await newInstance([inDual({ ip_family })]);
    expect(addressesOf(instance)).toEqual(patterns.map((one) => expect.stringMatching(one)));
    expect(instance.addresses.dual).toHaveLength(patterns.length);
    const [shown] = (await http.get(`${I}/${instance.id}/interfaces`)).body.results;
    expect(shown.ip_assignments.map((one: { ip_address: string }) => one.ip_address)).toEqual(addressesOf(instance));
    expect(shown.network_details.subnets).toHaveLength(2);
    const before = await free();
    await done(await http.delete(`${I}/${instance.id}`));
    expect(await free()).toEqual({
      v4: before.v4 + patterns.filter((one) => one.source.startsWith('^10')).length,
      v6: before.v6 - patterns.filter((one) => one.source.startsWith('^fd')).length,
    });
  });

  it.each([
    ['external', { type: 'external', ip_family: 'dual' }, [/^198\.18\./, /^2001:2:0:1::/]],
    ['external of IPv6', { type: 'external', ip_family: 'ipv6' }, [/^2001:2:0:1::/]],
    ['external of IPv4', { type: 'external' }, [/^198\.18\./]],
  ])('%s has public addresses', async (_, wish, patterns) => {
    const instance = await newInstance([wish]);
    expect(addressesOf(instance)).toEqual(patterns.map((one) => expect.stringMatching(one)));
    expect(instance.fixed_ip_assignments.every((one: { external: boolean }) => one.external)).toBe(true);
  });

  it('takes an address by name, and that of the other family besides', async () => {
    const v6 = await newInstance([inDual({ ip_address: 'FD00:50:0::a:00aa' })]);
    expect(addressesOf(v6)).toEqual(['fd00:50::a:aa']);
    const both = await newInstance([inDual({ ip_address: 'fd00:50::a:ab', ip_family: 'dual' })]);
    expect(addressesOf(both)).toEqual([expect.stringMatching(/^10\.50\./), 'fd00:50::a:ab']);
    const other = await newInstance([inDual({ ip_address: '10.50.0.200', ip_family: 'dual' })]);
    expect(addressesOf(other)).toEqual(['10.50.0.200', expect.stringMatching(/^fd00:50::/)]);
    expect((await postInstance([inDual({ ip_address: 'fd00:50::a:ab' })])).status).toBe(409);
  });

  it.each([
    ['an address of another family', { ip_address: '10.50.0.9', ip_family: 'ipv6' }, 'ip_address'],
    ['an address outside', { ip_address: 'fd00:99::1' }, 'ip_address'],
    ['the network address', { ip_address: 'fd00:50::' }, 'ip_address'],
    ['a family that is none', { ip_family: 'ipv5' }, 'ip_family'],
  ])('is refused for %s', async (_, more, field) => {
    expect(await refused(await postInstance([inDual(more)]))).toEqual([`interfaces.0.${field}`]);
  });

  it('is refused in a network without the family', async () => {
    const { body } = await http.get(`${NETWORKS}?name=default`);
    const network_id = body.results[0].id;
    for (const ip_family of ['ipv6', 'dual']) {
      const answer = await postInstance([{ type: 'any_subnet', network_id, ip_family }]);
      expect(await refused(answer)).toEqual(['interfaces.0.ip_family']);
      expect(answer.text).toContain('IPv6 subnet');
    }
    const alone = await newNetwork('six only');
    await newSubnet(alone, { cidr: 'fd00:54::/64' });
    const four = await postInstance([{ type: 'any_subnet', network_id: alone }]);
    expect(await refused(four)).toEqual(['interfaces.0.network_id']);
  });

  it('in a subnet by name has its family, whatever the older library says besides', async () => {
    const at = (subnet_id: string, more: object = {}) => ({
      type: 'subnet',
      network_id: dual.network,
      subnet_id,
      ...more,
    });
    expect(addressesOf(await newInstance([at(dual.v6)]))).toEqual([expect.stringMatching(/^fd00:50::/)]);
    const six = await newInstance([at(dual.v6, { ip_family: 'ipv6' })], {}, LEGACY);
    expect(addressesOf(six)).toEqual([expect.stringMatching(/^fd00:50::/)]);
    for (const ip_family of ['ipv4', 'dual']) {
      const answer = await postInstance([at(dual.v6, { ip_family })], {}, LEGACY);
      expect(await refused(answer)).toEqual(['interfaces.0.ip_family']);
    }
    expect(await refused(await postInstance([at(dual.v6, { ip_family: 'ipv6' })]))).toEqual(['interfaces.0.ip_family']);
  });

  it('comes and goes later with all of its addresses', async () => {
    const { id } = await newInstance([inDual()]);
    const before = await free();
    const made = await done(await http.post(`${I}/${id}/attach_interface`, inDual({ ip_family: 'dual' })));
    const port = await http.get(`/cloud/v1/ports/1/1/${made.ports[0]}`);
    expect(port.body.ip_assignments).toHaveLength(2);
    const [{ ip_address }] = port.body.ip_assignments.filter((one: { ip_address: string }) =>
      one.ip_address.includes(':'),
    );
    expect(await free()).toEqual({ v4: before.v4 - 1, v6: before.v6 + 1 });
    await done(
      await http.post(`${I}/${id}/detach_interface`, {
        port_id: made.ports[0],
        ip_address: ip_address.toUpperCase(),
      }),
    );
    expect(await free()).toEqual(before);
    const wrong = await http.post(`${I}/${id}/attach_interface`, inDual({ ip_address: 'fd00:99::1' }));
    expect(await refused(wrong)).toEqual(['ip_address']);
  });

  it('gets further addresses of either family and gives them back', async () => {
    const {
      ports: [port],
    } = await newInstance([inDual()]);
    const read = async () => (await http.get(`/cloud/v1/ports/1/1/${port}`)).body.ip_assignments;
    const [own] = await read();
    const six = { subnet_id: dual.v6, ip_address: 'FD00:50::0A:FF' };
    const change = async (ip_assignments: object[]) =>
      done(await http.patch(`/cloud/v1/ports/1/1/${port}`, { ip_assignments }));
    await change([own, six]);
    const both = [own, { subnet_id: dual.v6, ip_address: 'fd00:50::a:ff' }];
    expect(await read()).toEqual(expect.arrayContaining(both));
    // An address that is sent again stays, however it is written.
    await change([six]);
    expect(await read()).toEqual(both.slice(1));
    const wrong = { subnet_id: dual.v4, ip_address: 'fd00:50::a:fe' };
    expect(await refused(await http.patch(`/cloud/v1/ports/1/1/${port}`, { ip_assignments: [wrong] }))).toEqual([
      'ip_assignments.0.ip_address',
    ]);
    const found = await http.get(`/cloud/v1/ports/1/1?ip_addresses=FD00:50:0::A:ff`);
    expect(found.body.count).toBe(1);
  });

  it('leads floating IPs to its IPv4 address alone', async () => {
    const floating_ip = { source: 'new' };
    const both = await newInstance([inDual({ ip_family: 'dual', floating_ip })]);
    const [four] = addressesOf(both);
    expect(both.addresses.dual.map(({ type, addr }: { type: string; addr: string }) => [type, addr])).toMatchObject([
      ['fixed', four],
      ['floating', expect.stringMatching(/^198\.18\./)],
      ['fixed', expect.stringMatching(/^fd00:50::/)],
    ]);
    const six = await postInstance([inDual({ ip_family: 'ipv6', floating_ip })]);
    expect(await refused(six)).toEqual(['interfaces.0.floating_ip']);
    const again = await http.post('/cloud/v1/floatingips/1/1', { port_id: both.ports[0] });
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining(String(four))]);
  });

  it('names its instance by the last bytes of its first address', async () => {
    const six = inDual({ ip_address: 'fd00:50::1:203' });
    expect((await newInstance([six], { name: undefined })).name).toBe('instance-1-2-3');
    const template = { name: undefined, name_template: 'node-{one_ip_octet}' };
    const both = await newInstance([inDual({ ip_address: '10.50.0.201', ip_family: 'dual' })], template);
    expect(both.name).toBe('node-201');
  });

  it('has the security groups of its port, with rules of IPv6', async () => {
    const group = await http.post('/cloud/v1/securitygroups/1/1', {
      security_group: {
        name: 'six',
        security_group_rules: [
          {
            direction: 'ingress',
            ethertype: 'IPv6',
            protocol: 'tcp',
            port_range_min: 22,
            port_range_max: 22,
            remote_ip_prefix: 'FD00:50:0::/64',
          },
        ],
      },
    });
    expect(group.status, group.text).toBe(200);
    expect(group.body.security_group_rules[0].remote_ip_prefix).toBe('fd00:50::/64');
    const security_groups = [{ id: group.body.id }];
    const instance = await newInstance([inDual({ ip_family: 'dual', security_groups })]);
    expect(instance.security_groups).toEqual([{ name: 'six' }]);
  });

  it('takes each address once, however many want one of each at once', async () => {
    const wish = inDual({ ip_family: 'dual' });
    const answers = await Promise.all(Array.from({ length: 12 }, () => postInstance([wish, wish])));
    for (const answer of answers) await done(answer);
    const { rows } = await service.pool.query(
      `select family(cidr) as family,
        used_ips = (select count(*) from ip_assignments where subnet_id = id) as counted,
        free_from - first_address =
          (select count(*) from ip_assignments where subnet_id = id and address < free_from) as none_skipped
      from subnets where network_id = $1 order by family`,
      [dual.network],
    );
    expect(rows).toEqual([
      { family: 4, counted: true, none_skipped: true },
      { family: 6, counted: true, none_skipped: true },
    ]);
  });
});

describe('a reserved address', () => {
  it.each([
    [{ ip_family: 'ipv6' }, [null, /^fd00:50::/]],
    [{ ip_family: 'dual' }, [/^10\.50\./, /^fd00:50::/]],
    [{ ip_family: null }, [/^10\.50\./, null]],
  ])('of any subnet with %j has its addresses in their fields', async (more, [four, six]) => {
    const made = await done(await http.post(RESERVED, { type: 'any_subnet', network_id: dual.network, ...more }));
    const matching = (pattern: RegExp | null | undefined) => (pattern ? expect.stringMatching(pattern) : null);
    const { body } = await http.get(`${RESERVED}/${made.ports[0]}`);
    expect(body).toMatchObject({
      fixed_ip_address: matching(four),
      fixed_ipv6_address: matching(six),
      subnet_id: four ? dual.v4 : null,
      subnet_v6_id: six ? dual.v6 : null,
    });
    const before = await free();
    await done(await http.delete(`${RESERVED}/${made.ports[0]}`));
    expect(await free()).toEqual({ v4: before.v4 + (four ? 1 : 0), v6: before.v6 - (six ? 1 : 0) });
  });

  it('of the outside, of a subnet and by name is of IPv6 as well', async () => {
    const reserve = async (body: object, base = '') => {
      const made = await done(await http.post(`${base}${RESERVED}`, body));
      return (await http.get(`${RESERVED}/${made.ports[0]}`)).body;
    };
    expect(await reserve({ type: 'external', ip_family: 'dual' })).toMatchObject({
      fixed_ip_address: expect.stringMatching(/^198\.18\./),
      fixed_ipv6_address: expect.stringMatching(/^2001:2:0:1::/),
    });
    expect(await reserve({ type: 'subnet', subnet_id: dual.v6 })).toMatchObject({
      fixed_ip_address: null,
      subnet_v6_id: dual.v6,
    });
    const named = { type: 'ip_address', network_id: dual.network, ip_address: 'FD00:50::D:1D' };
    expect(await reserve({ ...named, ip_family: 'ipv6' }, LEGACY)).toMatchObject({
      fixed_ipv6_address: 'fd00:50::d:1d',
    });
    expect((await http.post(RESERVED, named)).status).toBe(409);
    const other = { type: 'subnet', subnet_id: dual.v6, ip_family: 'ipv4' };
    expect(await refused(await http.post(`${LEGACY}${RESERVED}`, other))).toEqual(['ip_family']);
    expect(await refused(await http.post(RESERVED, other))).toEqual(['ip_family']);
  });

  it('of both families goes to an instance with both', async () => {
    const body = { type: 'any_subnet', network_id: dual.network, ip_family: 'dual' };
    const made = await done(await http.post(RESERVED, body));
    const at = { type: 'reserved_fixed_ip', port_id: made.ports[0] };
    for (const ip_family of ['ipv4', 'ipv6']) {
      const answer = await postInstance([{ ...at, ip_family }], {}, LEGACY);
      expect(await refused(answer)).toEqual(['interfaces.0.ip_family']);
    }
    const instance = await newInstance([{ ...at, ip_family: 'dual', floating_ip: { source: 'new' } }], {}, LEGACY);
    const { body: shown } = await http.get(`${RESERVED}/${made.ports[0]}`);
    expect(addressesOf(instance)).toEqual([shown.fixed_ip_address, shown.fixed_ipv6_address]);
    expect(instance.addresses.dual).toHaveLength(3);
  });
});

describe('a cluster', () => {
  it('has its nodes in IPv4, and outside in IPv6 as well where is_ipv6 says so', async () => {
    const body = { ...(await clusterBody(http)), fixed_network: dual.network, is_ipv6: true };
    await done(await http.post('/cloud/v1/k8s/clusters/1/1', body));
    const { results } = (await http.get(`/cloud/v1/k8s/clusters/1/1/${body.name}/instances`)).body;
    expect(results).toHaveLength(1);
    expect(results[0].fixed_ip_assignments).toMatchObject([
      { ip_address: expect.stringMatching(/^10\.50\./), external: false },
      { ip_address: expect.stringMatching(/^2001:2:0:1::/), external: true },
    ]);
  });

  it('is refused where its nodes would get no IPv4 address', async () => {
    const post = async (more: object) =>
      refused(await http.post('/cloud/v1/k8s/clusters/1/1', { ...(await clusterBody(http)), ...more }));
    expect(await post({ fixed_subnet: dual.v6 })).toEqual(['fixed_subnet']);
    const alone = await newNetwork('six for nodes');
    await newSubnet(alone, { cidr: 'fd00:55::/64' });
    expect(await post({ fixed_network: alone })).toEqual(['fixed_network']);
  });
});

it('the external network has a subnet of each family, whose project is that of the reader', async () => {
  const { body } = await http.get(`${SUBNETS}?owned_by=any`);
  const outside = body.results.filter(({ name }: { name: string }) => name.startsWith('external'));
  expect(outside).toMatchObject([
    { name: 'external', ip_version: 4, project_id: 1 },
    { name: 'external-ipv6', ip_version: 6, cidr: '2001:2:0:1::/64', project_id: 1 },
  ]);
  const other = await service.otherTenant();
  const seen = await other.http.get(`/cloud/v1/subnets/${other.projectId}/1/${outside[0].id}`);
  expect(seen.body.project_id).toBe(other.projectId);
  const instance = await newInstance([{ type: 'external' }]);
  const [shown] = (await http.get(`${I}/${instance.id}/interfaces`)).body.results;
  expect(shown.network_details.project_id).toBeNull();
  expect(shown.network_details.subnets.map((one: { project_id: number }) => one.project_id)).toEqual([1, 1]);
  const theirs = await other.http.get(`/cloud/v1/subnets/${other.projectId}/1/${dual.v6}`);
  expect(theirs.status).toBe(404);
});

/** Returns the free addresses of IPv4 and the used ones of IPv6, which has too many free addresses to count. */
async function free(): Promise<{ v4: number; v6: number }> {
  const { body } = await http.get(`${SUBNETS}/${dual.v4}`);
  const { rows } = await service.pool.query('select used_ips as used from subnets where id = $1', [dual.v6]);
  return { v4: body.available_ips, v6: rows[0].used };
}
