import { describe, expect, it } from 'vitest';
import type { Resource, TaskIds, Walk } from '../client.ts';
import { walkMetadata } from './metadata.ts';

export function describeFileShares(walk: Walk): void {
  const { client, place } = walk;

  describe('file shares', () => {
    it('changes one at once, tags it, and asks whether one more fits', async () => {
      const SHARES = place('/cloud/v1/file_shares');
      const body = { name: 'walk share', protocol: 'NFS', size: 10, type_name: 'vast' };
      const share = await client.createAndPoll(SHARES, body, 'file_shares');
      const one = `${SHARES}/${share.id}`;
      expect(await client.patch(one, { name: 'walk share one' })).toMatchObject({ name: 'walk share one' });
      await walkMetadata(walk, one);
      expect(await client.post(`${SHARES}/check_limits`, { size: 10 })).toEqual({});
    });

    it('makes a standard one by its older name, with addresses that reach it', async () => {
      const [network] = await client.list<Resource>('/cloud/v1/networks/1/2', { name: 'default' });
      const of = '/cloud/v1/file_shares/1/2';
      const body = {
        name: 'walk standard share',
        protocol: 'NFS',
        size: 2,
        volume_type: 'default_share_type',
        network: { network_id: network?.id },
        access: [{ ip_address: '10.100.100.0/24', access_mode: 'rw' }],
      };
      const standard = await client.createAndPoll(of, body, 'file_shares');
      expect(await client.list(`${of}/${standard.id}/access_rule`)).toEqual([
        { id: expect.any(String), access_to: '10.100.100.0/24', access_level: 'rw', state: 'active' },
      ]);
      await client.poll(await client.delete<TaskIds>(`${of}/${standard.id}`));
    });
  });
}
