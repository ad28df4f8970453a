import { describe, expect, it } from 'vitest';
import type { Query } from '../query.ts';
import type { Resource } from '../shapes.ts';
import { refusal, tags, type Walk } from '../walk.ts';
import { walkMetadata } from './metadata.ts';

export function describeVolumes(walk: Walk): void {
  const { client, impatient, place } = walk;
  const VOLUMES = place('/cloud/v1/volumes');
  const SNAPSHOTS = place('/cloud/v1/snapshots');
  const PRICES = place('/cloud/v1/pricing');
  let volume: Resource;
  let snapshot: Resource;
  const one = () => `${VOLUMES}/${volume.id}`;

  describe('volumes', () => {
    it('creates one and waits for it', async () => {
      const body = {
        source: 'new-volume',
        name: 'walk disk',
        size: 5,
        type_name: 'standard',
        tags: { env: 'walk' },
      };
      volume = await client.createAndPoll<Resource>(VOLUMES, body, { of: 'volumes' });
      expect(volume).toMatchObject({
        size: 5,
        status: 'available',
        tags: tags({ env: 'walk' }),
        attachments: [],
      });
    });

    it('lists with filters, page by page', async () => {
      await client.createAndPoll(
        VOLUMES,
        { source: 'new-volume', name: 'walk disk two', size: 1 },
        { of: 'volumes' },
      );
      const found = async (query: Query) =>
        (await client.all<Resource>(VOLUMES, { limit: 1, ...query })).length;
      expect(await found({ name_part: 'walk disk' })).toBe(2);
      expect(await found({ id_part: volume.id.slice(0, 8), has_attachments: false })).toBe(1);
      expect(await found({ tag_key: ['env'], bootable: false })).toBe(1);
    });

    it('changes name, tags, size and type', async () => {
      expect(await client.patch(one(), { name: 'walk disk one', tags: { env: null } })).toMatchObject({
        tags: [],
      });
      await client.postAndPoll(`${one()}/extend`, { size: 8 });
      expect(await client.post(`${one()}/retype`, { volume_type: 'ssd_hiiops' })).toMatchObject({
        name: 'walk disk one',
        size: 8,
        volume_type: 'ssd_hiiops',
      });
      await walkMetadata(walk, one());
    });
  });

  describe('snapshots', () => {
    it('makes one, lists it, changes it, and goes back to it', async () => {
      const body = { name: 'walk snap', volume_id: volume.id, description: 'before' };
      snapshot = await client.createAndPoll<Resource>(SNAPSHOTS, body, { of: 'snapshots' });
      expect(snapshot).toMatchObject({ size: 8, status: 'available', description: 'before' });
      expect(await client.all(SNAPSHOTS, { volume_id: volume.id, limit: 1 })).toEqual([snapshot]);
      const renamed = await client.patch(`${SNAPSHOTS}/${snapshot.id}`, {
        name: 'walk snap one',
        tags: { env: 'walk' },
      });
      expect(await client.get(`${SNAPSHOTS}/${snapshot.id}`)).toEqual(renamed);
      expect(renamed).toMatchObject({ name: 'walk snap one', tags: tags({ env: 'walk' }) });
      expect(await client.put(`${SNAPSHOTS}/${snapshot.id}/metadata`, { tier: 'one' })).toMatchObject({
        tags: tags({ tier: 'one' }),
      });
      await client.postAndPoll(`${one()}/revert`);
    });

    it('makes a volume of it', async () => {
      const body = { source: 'snapshot', name: 'walk disk three', snapshot_id: snapshot.id, size: undefined };
      const made = await client.createAndPoll<Resource>(VOLUMES, body, { of: 'volumes' });
      expect(made).toMatchObject({ size: 8, volume_type: 'ssd_hiiops' });
      await client.deleteAndPoll(`${VOLUMES}/${made.id}`);
    });
  });

  it('previews prices of volumes and snapshots', async () => {
    const asked = { source: 'new-volume', size: 100, type_name: 'ssd_hiiops', snapshot_id: null };
    expect(await client.post(`${PRICES}/volumes`, asked)).toMatchObject({ price_status: 'show' });
    const ofSnapshot = { source: 'snapshot', snapshot_id: snapshot.id, size: null, type_name: null };
    expect(await client.post(`${PRICES}/volumes`, ofSnapshot)).toMatchObject({ price_status: 'show' });
    expect(await client.post(`${PRICES}/snapshots`, { volume_id: volume.id })).toMatchObject({
      price_status: 'show',
    });
  });

  it('deletes a snapshot, and a volume with the snapshots that are named', async () => {
    await client.deleteAndPoll(`${SNAPSHOTS}/${snapshot.id}`);
    await expect(impatient.get(`${SNAPSHOTS}/${snapshot.id}`)).rejects.toMatchObject(refusal(404));
    const last = await client.createAndPoll<Resource>(
      SNAPSHOTS,
      { name: 'walk last', volume_id: volume.id },
      { of: 'snapshots' },
    );
    await client.deleteAndPoll(one(), { snapshots: last.id });
    for (const gone of [one(), `${SNAPSHOTS}/${last.id}`]) {
      await expect(impatient.get(gone)).rejects.toMatchObject(refusal(404));
    }
  });
}
