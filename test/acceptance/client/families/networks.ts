import { expect, it } from 'vitest';
import { tags, type Walk } from '../client.ts';
import { walkMetadata } from './metadata.ts';

export function describeNetworks(walk: Walk): void {
  const { client, place } = walk;

  it('networks: those of the platform too, with their subnets', async () => {
    const all = await client.list<{ external: boolean; subnets: { cidr: string }[] }>(
      place('/cloud/v1/availablenetworks'),
      { external: true },
    );
    expect(all.flatMap(({ subnets }) => subnets).length).toBeGreaterThan(0);
  });

  it('networks and subnets: a change at once, ports, tags', async () => {
    const NETWORKS = place('/cloud/v1/networks');
    const SUBNETS = place('/cloud/v1/subnets');
    const body = { name: 'walk net', create_router: false, tags: { env: 'walk' } };
    const network = await client.createAndPoll(NETWORKS, body, 'networks');
    const one = `${NETWORKS}/${network.id}`;
    const renamed = await client.patch(one, { name: 'walk net one', tags: { env: null, tier: '1' } });
    expect(renamed).toMatchObject({ name: 'walk net one', tags: tags({ tier: '1' }) });
    await walkMetadata(walk, one);
    expect(await client.get(`${one}/ports`)).toEqual({ count: 0, results: [] });
    const inside = { name: 'walk subnet', network_id: network.id, cidr: '10.77.0.0/24' };
    const subnet = await client.createAndPoll(SUBNETS, inside, 'subnets');
    await walkMetadata(walk, `${SUBNETS}/${subnet.id}`);
  });

  it('routers: as the older library sends them, a change at once', async () => {
    const ROUTERS = place('/cloud/v1/routers');
    const gateway = { type: 'default', enable_snat: null };
    const body = { name: 'walk router', external_gateway_info: gateway };
    const router = await client.createAndPoll(ROUTERS, body, 'routers');
    const { external_gateway_info } = await client.get<{
      external_gateway_info: { network_id: string; enable_snat: boolean };
    }>(`${ROUTERS}/${router.id}`);
    expect(external_gateway_info.enable_snat).toBe(true);
    const { network_id } = external_gateway_info;
    const change = {
      name: 'walk router one',
      external_gateway_info: { type: 'manual', enable_snat: null, network_id },
      routes: [],
    };
    const changed = await client.patch(`${ROUTERS}/${router.id}`, change);
    expect(changed).toMatchObject({ name: 'walk router one', external_gateway_info });
  });
}
