import { expect, it } from 'vitest';
import { tags, type Walk } from '../client.ts';
import { walkMetadata } from './metadata.ts';

export function describeVolumes(walk: Walk): void {
  const { client, place } = walk;

  it('volumes and snapshots: tags and prices', async () => {
    const VOLUMES = place('/cloud/v1/volumes');
    const SNAPSHOTS = place('/cloud/v1/snapshots');
    const PRICES = place('/cloud/v1/pricing');
    const disk = { source: 'new-volume', name: 'walk disk', size: 5, type_name: 'standard' };
    const volume = await client.createAndPoll(VOLUMES, disk, 'volumes');
    await walkMetadata(walk, `${VOLUMES}/${volume.id}`);
    const body = { name: 'walk snap', volume_id: volume.id };
    const snapshot = await client.createAndPoll(SNAPSHOTS, body, 'snapshots');
    expect(await client.put(`${SNAPSHOTS}/${snapshot.id}/metadata`, { tier: 'one' })).toMatchObject({
      tags: tags({ tier: 'one' }),
    });
    const asked = { source: 'new-volume', size: 100, type_name: 'ssd_hiiops', snapshot_id: null };
    const ofSnapshot = { source: 'snapshot', snapshot_id: snapshot.id, size: null, type_name: null };
    const shown = { price_status: 'show' };
    for (const one of [asked, ofSnapshot]) expect(await client.post(`${PRICES}/volumes`, one)).toMatchObject(shown);
    expect(await client.post(`${PRICES}/snapshots`, { volume_id: volume.id })).toMatchObject(shown);
  });

  it('prices of all else', async () => {
    const PRICES = place('/cloud/v1/pricing');
    const shown = { price_status: 'show' };
    for (const [of, body] of [
      ['file_shares', { source: 'new-file-share', size: 20, type_name: 'vast' }],
      ['floating_ips', { count: 2 }],
      ['images', { size: 10 }],
      ['reserved_fixed_ips', { type: 'external' }],
    ] as const) {
      expect(await client.post(`${PRICES}/${of}`, body)).toMatchObject(shown);
    }
    const INSTANCES = place('/cloud/v2/pricing');
    const machine = { flavor: 'g1-standard-1-2', interfaces: [{ type: 'external' }] };
    expect(await client.post(`${INSTANCES}/instances`, machine)).toMatchObject({ ...shown, vm_count: 1 });
    expect(await client.get('/cloud/v1/pricing/1/laas')).toMatchObject(shown);
    expect(await client.get('/cloud/v1/pricing/1/ddos')).toMatchObject({ price: { unit_size: 1 } });
  });
}
