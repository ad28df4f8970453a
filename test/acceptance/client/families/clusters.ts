import { expect, it } from 'vitest';
import type { Walk } from '../client.ts';

const POOL = {
  name: 'web',
  flavor_id: 'g1-standard-2-4',
  min_node_count: 1,
  max_node_count: 3,
  boot_volume_size: 50,
  boot_volume_type: 'ssd_hiiops',
  servergroup_policy: 'anti-affinity',
};

export function describeClusters({ client, place }: Walk): void {
  it('clusters: quotas and prices', async () => {
    const K = place('/cloud/v2/k8s/clusters');
    const PRICES = `${place('/cloud/v2/pricing')}/k8s/clusters`;
    const shown = { total_price: { price_status: 'show' } };
    const limits = { pools: [{ flavor_id: POOL.flavor_id }], logging: null };
    expect(await client.post(`${K}/check_limits`, limits)).toEqual({});
    const { flavor_id, boot_volume_size, boot_volume_type } = POOL;
    const priced = { flavor_id, boot_volume_size, boot_volume_type, node_count: 2 };
    expect(await client.post(PRICES, { pools: [priced] })).toMatchObject(shown);
    await client.post('/cloud/v1/ssh_keys/1', { name: 'walk cluster key' });
    const body = { name: 'walk', version: 'v1.31.14', keypair: 'walk cluster key', pools: [POOL] };
    await client.poll(await client.post(K, body));
    expect(await client.get(`${PRICES}/walk`)).toMatchObject(shown);
  });
}
