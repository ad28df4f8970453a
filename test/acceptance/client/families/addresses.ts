import { beforeAll, describe, expect, it } from 'vitest';
import type { Page, Resource } from '../shapes.ts';
import { refusal, tags, type Walk } from '../walk.ts';
import { makeInstance } from './instances.ts';

interface FloatingIp extends Resource {
  floating_ip_address: string;
}

interface ReservedIp {
  port_id: string;
  fixed_ip_address: string;
}

export function describeAddresses(walk: Walk): void {
  const { client, impatient, place } = walk;

  describe('addresses', () => {
    let instance: Resource;
    let port: string;
    beforeAll(async () => {
      instance = await makeInstance(walk, 'walk addressed');
      const ports = `${place('/cloud/v1/instances')}/${instance.id}/ports`;
      port = (await client.get<Page<Resource>>(ports)).results[0]?.id ?? '';
    });

    it('floating IPs: creates one, leads it to a port and away, and deletes it', async () => {
      const FLOATING = place('/cloud/v1/floatingips');
      const made = await client.createAndPoll<FloatingIp>(
        FLOATING,
        { tags: { env: 'walk' }, port_id: null },
        { of: 'floatingips' },
      );
      expect(made).toMatchObject({ status: 'DOWN', port_id: null, tags: tags({ env: 'walk' }) });
      const one = `${FLOATING}/${made.id}`;
      expect(await client.post(`${one}/assign`, { port_id: port })).toMatchObject({
        status: 'ACTIVE',
        port_id: port,
      });
      expect(await client.all(FLOATING, { status: 'ACTIVE', limit: 1 })).toHaveLength(1);
      expect(await client.get(`${place('/cloud/v1/instances')}/${instance.id}`)).toMatchObject({
        addresses: {
          default: expect.arrayContaining([{ type: 'floating', addr: made.floating_ip_address }]),
        },
      });
      expect(await client.post(`${one}/unassign`)).toMatchObject({ port_id: null });
      await client.deleteAndPoll(one);
      await expect(impatient.get(one)).rejects.toMatchObject(refusal(404));
    });

    it('reserved fixed IPs: reserves one, finds it, and gives it back', async () => {
      const RESERVED = place('/cloud/v1/reserved_fixed_ips');
      const { created_resources: made } = await client.postAndPoll(RESERVED, {
        type: 'external',
        is_vip: false,
      });
      const [id] = made?.ports ?? [];
      const one = `${RESERVED}/${id}`;
      const read = await client.get<ReservedIp>(one);
      expect(read).toMatchObject({ port_id: id, is_external: true, reservation: { status: 'available' } });
      expect(
        await client.all(RESERVED, { ip_address: read.fixed_ip_address, available_only: true }),
      ).toHaveLength(1);
      await client.deleteAndPoll(one);
      await expect(impatient.get(one)).rejects.toMatchObject(refusal(404));
    });
  });
}
