import { describe, expect, it } from 'vitest';
import type { Resource } from '../shapes.ts';
import { refusal, tags, type Walk } from '../walk.ts';
import { walkMetadata } from './metadata.ts';

export function describeFileShares(walk: Walk): void {
  const { client, impatient, place } = walk;

  describe('file shares', () => {
    const SHARES = place('/cloud/v1/file_shares');
    let share: Resource;
    const one = () => `${SHARES}/${share.id}`;

    it('creates one and waits for it', async () => {
      const body = {
        name: 'walk share',
        protocol: 'NFS',
        size: 10,
        type_name: 'vast',
        share_settings: { root_squash: false },
        tags: { env: 'walk' },
      };
      share = await client.createAndPoll<Resource>(SHARES, body, { of: 'file_shares' });
      expect(share).toMatchObject({
        size: 10,
        status: 'available',
        type_name: 'vast',
        tags: tags({ env: 'walk' }),
      });
    });

    it('lists, changes it at once and by a task, and extends it', async () => {
      expect(await client.all(SHARES, { name: 'walk', type_name: 'vast', limit: 1 })).toEqual([share]);
      expect(await client.patch(one(), { name: 'walk share one' })).toMatchObject({ name: 'walk share one' });
      const wanted = {
        share_settings: { path_length: 'NPL', allowed_characters: 'NPL' },
        tags: { env: null },
      };
      await client.patchAndPoll(`${place('/cloud/v3/file_shares')}/${share.id}`, wanted);
      await client.postAndPoll(`${one()}/extend`, { size: 20 });
      expect(await client.get(one())).toMatchObject({
        ...wanted,
        name: 'walk share one',
        size: 20,
        tags: [],
      });
      await walkMetadata(walk, one());
    });

    it('deletes it', async () => {
      await client.deleteAndPoll(one());
      await expect(impatient.get(one())).rejects.toMatchObject(refusal(404));
    });
  });
}
