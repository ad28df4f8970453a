import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const NETWORKS = '/cloud/v1/networks/1/1';
const SUBNETS = '/cloud/v1/subnets/1/1';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

describe('what a project has from the start', () => {
  it('is one default network with a subnet that has free addresses, in every region', async () => {
    for (const region of [1, 2, 3]) {
      const { body } = await service.http.get(`/cloud/v1/networks/1/${region}`);
      expect(body).toMatchObject({
        count: 1,
        results: [
          {
            name: 'default',
            type: 'vxlan',
            mtu: 1450,
            default: true,
            external: false,
            shared: false,
            project_id: 1,
            region_id: region,
            task_id: null,
            creator_task_id: null,
            tags: [],
          },
        ],
      });
      const [network] = body.results;
      const subnet = await service.http.get(`/cloud/v1/subnets/1/${region}/${network.subnets[0]}`);
      expect(subnet.body).toMatchObject({
        network_id: network.id,
        cidr: '10.0.0.0/20',
        ip_version: 4,
        enable_dhcp: true,
        gateway_ip: '10.0.0.1',
        available_ips: 4093,
        total_ips: 4093,
        has_router: false,
        host_routes: [],
        region_id: region,
      });
    }
  });

  it('is given to a new project at once, and is its own', async () => {
    const other = await service.otherTenant();
    const own = await other.http.get(`/cloud/v1/networks/${other.projectId}/1`);
    const mine = await service.http.get(NETWORKS);
    expect(own.body.count).toBe(1);
    expect(own.body.results[0].id).not.toBe(mine.body.results[0].id);
    const foreign = await other.http.get(`/cloud/v1/networks/${other.projectId}/1/${mine.body.results[0].id}`);
    expect(foreign.status).toBe(404);
    const subnet = mine.body.results[0].subnets[0];
    expect((await other.http.get(`/cloud/v1/subnets/${other.projectId}/1/${subnet}`)).status).toBe(404);
  });

  it('is a default security group that lets ICMP, SSH and RDP in, and counts in no quota', async () => {
    const { body } = await service.http.get('/cloud/v1/securitygroups/1/1?name=default');
    expect(body.count).toBe(1);
    expect(body.results[0].security_group_rules).toHaveLength(10);
    expect((await service.http.delete(`/cloud/v1/securitygroups/1/1/${body.results[0].id}`)).status).toBe(409);
    const { rows } = await service.pool.query(`select * from quota_usage where attribute = 'firewall_count'`);
    expect(rows).toEqual([]);
  });
});

describe('lists', () => {
  it('show the network to the outside to those who ask for it', async () => {
    const { body } = await service.http.get(`${NETWORKS}?owned_by=any&external=true`);
    expect(body).toMatchObject({ count: 1, results: [{ external: true, shared: true, project_id: null }] });
    expect(body.results[0].id).toBe('0b1f6f3e-6c44-4d0a-9a57-2f6a3c1d7e10');
    const read = await service.http.get(`${NETWORKS}/${body.results[0].id}`);
    expect(read.body).toEqual(body.results[0]);
    const subnets = await service.http.get(`${SUBNETS}?owned_by=any&network_id=${read.body.id}`);
    expect(subnets.body.results).toMatchObject([
      { cidr: '198.18.16.0/20', total_ips: 4093 },
      { cidr: '2001:2:0:1::/64', total_ips: null },
    ]);
  });

  it.each([
    [`${NETWORKS}?name=default`, 1],
    [`${NETWORKS}?name=other`, 0],
    [`${NETWORKS}?network_type=vlan`, 0],
    [`${NETWORKS}?owned_by=any&order_by=priority.desc`, 2],
    [`${NETWORKS}?tag_key=env`, 0],
    [`${SUBNETS}?order_by=available_ips.desc&owned_by=any`, 3],
    [`${SUBNETS}?network_id=${crypto.randomUUID()}`, 0],
  ])('%s has %d', async (path, count) => {
    const { status, text, body } = await service.http.get(path);
    expect(status, text).toBe(200);
    expect(body.count).toBe(count);
  });

  it.each(['owned_by=me', 'order_by=id.asc', 'limit=0', 'colour=red'])('refuse %s', async (query) => {
    expect((await service.http.get(`${NETWORKS}?${query}`)).status).toBe(400);
    expect((await service.http.get(`${SUBNETS}?${query}`)).status).toBe(400);
  });
});

describe('the older list', () => {
  const available = async (query = '') => {
    const answer = await service.http.get(`/cloud/v1/availablenetworks/1/1${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body as { count: number; results: { id: string; name: string; external: boolean }[] };
  };

  it('has the networks of the project and the platform, with their subnets', async () => {
    const { body } = await service.http.get(`${NETWORKS}?owned_by=any`);
    const subnets = (await service.http.get(`${SUBNETS}?owned_by=any`)).body.results;
    const expected = body.results.map((network: { id: string }) => ({
      ...network,
      subnets: subnets.filter((one: { network_id: string }) => one.network_id === network.id),
    }));
    expect(expected.length).toBeGreaterThan(1);
    expect(await available()).toEqual({ count: body.count, results: expected });
  });

  it('filters, sorts and pages', async () => {
    const [own] = (await available('?external=false')).results;
    const [outside] = (await available('?external=true')).results;
    expect([own?.name, outside?.external]).toEqual(['default', true]);
    expect((await available(`?network_id=${own?.id.toUpperCase()}`)).results).toEqual([own]);
    expect((await available(`?network_id=${crypto.randomUUID()}`)).count).toBe(0);
    expect((await available('?shared=false&name=default&network_type=vxlan')).results).toEqual([own]);
    expect((await available('?name=default&network_type=vlan')).count).toBe(0);
    const all = (await available('?order_by=name.asc')).results.map(({ name }) => name);
    expect(all).toEqual(all.toSorted());
    const second = await available('?order_by=name.asc&limit=1&offset=1');
    expect([second.count, second.results.map(({ name }) => name)]).toEqual([all.length, [all[1]]]);
    expect((await available('?tag_key=nothing')).count).toBe(0);
  });

  it.each(['owned_by=any', 'network_id=x', 'network_type=gre', 'shared=perhaps', 'order_by=id.asc'])(
    'refuses %s',
    async (query) => {
      const answer = await service.http.get(`/cloud/v1/availablenetworks/1/1?${query}`);
      expect(answer.status).toBe(400);
    },
  );
});

it.each([NETWORKS, SUBNETS])('%s knows nothing by an unknown id, and nobody without a token', async (path) => {
  for (const id of ['not-an-id', crypto.randomUUID()]) {
    expect((await service.http.get(`${path}/${id}`)).status).toBe(404);
    expect((await service.anonymous.get(`${path}/${id}`)).status).toBe(401);
  }
  expect((await service.anonymous.get(path)).status).toBe(401);
  const other = await service.otherTenant();
  expect((await other.http.get(path)).status).toBe(404);
});
