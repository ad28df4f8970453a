import { describe, expect, it } from 'vitest';
import type { Query } from '../query.ts';
import type { Resource } from '../shapes.ts';
import { refusal, tags, type Walk } from '../walk.ts';
import { walkMetadata } from './metadata.ts';

export function describeNetworks(walk: Walk): void {
  const { client, impatient, place } = walk;
  const NETWORKS = place('/cloud/v1/networks');
  const SUBNETS = place('/cloud/v1/subnets');
  let network: Resource;
  let subnet: Resource;

  describe('networks', () => {
    it('creates one, by exactly one task that names exactly one network', async () => {
      const body = { name: 'walk net', create_router: false, type: 'vxlan', tags: { env: 'walk' } };
      network = await client.createAndPoll<Resource>(NETWORKS, body, { of: 'networks', only: true });
      expect(network).toMatchObject({
        name: 'walk net',
        tags: tags({ env: 'walk' }),
        task_id: null,
        subnets: [],
      });
    });

    it('lists, with filters and page by page', async () => {
      await client.createAndPoll(NETWORKS, { name: 'walk net two' }, { of: 'networks', only: true });
      const names = async (query: Query) =>
        (await client.all<Resource>(NETWORKS, { limit: 1, ...query })).map(({ name }) => name);
      expect(await names({ order_by: 'name.desc' })).toEqual(['walk net two', 'walk net', 'default']);
      expect(await names({ tag_key: ['env'] })).toEqual(['walk net']);
      expect(await names({ tag_key_value: JSON.stringify({ env: 'walk' }), owned_by: 'project' })).toEqual([
        'walk net',
      ]);
      expect(await names({ name: 'walk net', external: false })).toEqual(['walk net']);
      expect(await names({ offset: 1000 })).toEqual([]);
    });

    it('changes it at once, and by a task; a change that changes nothing starts none', async () => {
      const one = `${NETWORKS}/${network.id}`;
      const renamed = await client.patch(one, { name: 'walk net one', tags: { env: null, tier: '1' } });
      expect(renamed).toMatchObject({ name: 'walk net one', tags: tags({ tier: '1' }) });
      const byTask = `${place('/cloud/v2/networks')}/${network.id}`;
      expect(await client.patchAndPoll(byTask, { tags: null })).toMatchObject({
        task_type: 'update_network',
      });
      expect(await client.patchAndPoll(byTask, { name: 'walk net one' })).toBeUndefined();
      expect(await client.get(one)).toMatchObject({ name: 'walk net one', tags: [] });
      await walkMetadata(walk, one);
    });
  });

  describe('subnets', () => {
    it('creates one, by exactly one task that names exactly one subnet', async () => {
      const body = {
        name: 'walk subnet',
        network_id: network.id,
        cidr: '10.77.0.0/24',
        gateway_ip: null,
        connect_to_network_router: false,
        dns_nameservers: ['9.9.9.9'],
      };
      subnet = await client.createAndPoll<Resource>(SUBNETS, body, { of: 'subnets', only: true });
      expect(subnet).toMatchObject({ cidr: '10.77.0.0/24', gateway_ip: null, dns_nameservers: ['9.9.9.9'] });
    });

    it('lists, changes and reads it: absent keeps, null clears', async () => {
      expect(
        await client.all(SUBNETS, { network_id: network.id, order_by: 'name.asc', limit: 1 }),
      ).toHaveLength(1);
      const one = `${SUBNETS}/${subnet.id}`;
      const routed = await client.patch(one, {
        gateway_ip: '10.77.0.1',
        host_routes: [{ destination: '192.168.7.0/24', nexthop: '10.77.0.9' }],
      });
      expect(routed).toMatchObject({ gateway_ip: '10.77.0.1', dns_nameservers: ['9.9.9.9'] });
      const plain = { gateway_ip: null, host_routes: [], dns_nameservers: [] };
      expect(await client.patch(one, { name: 'walk subnet two', ...plain })).toMatchObject(plain);
      expect(await client.get(one)).toMatchObject({ name: 'walk subnet two', ...plain });
      await walkMetadata(walk, one);
    });

    it('deletes both, one after the other', async () => {
      await client.deleteAndPoll(`${SUBNETS}/${subnet.id}`);
      await expect(impatient.get(`${SUBNETS}/${subnet.id}`)).rejects.toMatchObject(refusal(404));
      expect(await client.get(`${NETWORKS}/${network.id}/ports`)).toEqual({ count: 0, results: [] });
      await client.deleteAndPoll(`${NETWORKS}/${network.id}`);
      await expect(impatient.get(`${NETWORKS}/${network.id}`)).rejects.toMatchObject(refusal(404));
    });
  });
}
