import { describe, expect, it } from 'vitest';
import type { Page, Resource } from '../shapes.ts';
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

    it('asks whether one more fits', async () => {
      expect(await client.post(`${SHARES}/check_limits`, { size: 10 })).toEqual({});
    });

    it('makes a standard one by its older name, and lets addresses reach it', async () => {
      const { results } = await client.get<Page<Resource>>('/cloud/v1/networks/1/2', { name: 'default' });
      const of = '/cloud/v1/file_shares/1/2';
      const standard = await client.createAndPoll<Resource>(
        of,
        {
          name: 'walk standard share',
          protocol: 'NFS',
          size: 2,
          volume_type: 'default_share_type',
          network: { network_id: results[0]?.id },
          access: [{ ip_address: '10.100.100.0/24', access_mode: 'rw' }],
        },
        { of: 'file_shares' },
      );
      const rules = `${of}/${standard.id}/access_rule`;
      const added = await client.post<Resource>(rules, { ip_address: '10.17.18.10', access_mode: 'ro' });
      expect(await client.all(rules, { limit: 1 })).toEqual([
        { id: expect.any(String), access_to: '10.100.100.0/24', access_level: 'rw', state: 'active' },
        added,
      ]);
      await client.silent('DELETE', `${rules}/${added.id}`);
      expect(await client.all(rules)).toHaveLength(1);
      await client.deleteAndPoll(`${of}/${standard.id}`);
    });

    it('deletes it', async () => {
      await client.deleteAndPoll(one());
      await expect(impatient.get(one())).rejects.toMatchObject(refusal(404));
    });
  });
}
