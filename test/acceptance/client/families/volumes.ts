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
    for (const one of [asked, ofSnapshot])
      expect(await client.post(`${PRICES}/volumes`, one)).toMatchObject(shown);
    expect(await client.post(`${PRICES}/snapshots`, { volume_id: volume.id })).toMatchObject(shown);
  });
}
