import { beforeAll, describe, expect, it } from 'vitest';
import type { Page, Resource } from '../shapes.ts';
import { refusal, tags, type Walk } from '../walk.ts';
import { makeInstance } from './instances.ts';
import { walkMetadata } from './metadata.ts';

interface FloatingIp extends Resource {
  floating_ip_address: string;
}

interface ReservedIp {
  port_id: string;
  fixed_ip_address: string;
  is_vip: boolean;
}

interface Device {
  port_id: string;
  instance_name: string;
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
      const second = `${place('/cloud/v2/floatingips')}/${made.id}`;
      await client.patchAndPoll(second, { port_id: port, tags: { env: null } });
      expect(await client.all(FLOATING, { port_ids: [port] })).toMatchObject([
        { id: made.id, tags: [], instance: { id: instance.id }, loadbalancer: null },
      ]);
      expect(await client.patch(one, { tags: { env: 'later' } })).toMatchObject({
        tags: tags({ env: 'later' }),
      });
      await walkMetadata(walk, one);
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

    it('reserved fixed IPs: shares a virtual one between ports, and makes a floating IP of another', async () => {
      const RESERVED = place('/cloud/v1/reserved_fixed_ips');
      const network = (await client.get<{ network_id: string }>(`${place('/cloud/v1/ports')}/${port}`))
        .network_id;
      const { created_resources: made } = await client.postAndPoll(RESERVED, {
        type: 'any_subnet',
        network_id: network,
        is_vip: false,
      });
      const one = `${RESERVED}/${made?.ports?.[0]}`;
      expect(await client.patch<ReservedIp>(one, { is_vip: true })).toMatchObject({ is_vip: true });
      const available = await client.get<Page<Device>>(`${one}/available_devices`);
      expect(available.results).toContainEqual(expect.objectContaining({ port_id: port }));
      const shared = await client.patch<Page<Device>>(`${one}/connected_devices`, { port_ids: [port] });
      expect(shared.results).toMatchObject([{ port_id: port, instance_name: 'walk addressed' }]);
      expect(await client.get(`${one}/connected_devices`)).toEqual(shared);
      expect(await client.get(one)).toMatchObject({ attachments: [{ resource_id: instance.id }] });
      await expect(impatient.patch(one, { is_vip: false })).rejects.toMatchObject(refusal(409));
      expect(await client.put(`${one}/connected_devices`, { port_ids: [] })).toMatchObject({ count: 0 });
      await client.deleteAndPoll(one);

      const { created_resources: outside } = await client.postAndPoll(RESERVED, {
        type: 'external',
        ip_family: 'ipv4',
      });
      const other = `${RESERVED}/${outside?.ports?.[0]}`;
      const { fixed_ip_address } = await client.get<ReservedIp>(other);
      const { created_resources: floating } = await client.postAndPoll(`${other}/convert`, {
        target_type: 'floating_ip',
      });
      const [id] = floating?.floatingips ?? [];
      const read = await client.get<FloatingIp>(`${place('/cloud/v1/floatingips')}/${id}`);
      expect(read.floating_ip_address).toBe(fixed_ip_address);
      await client.deleteAndPoll(`${place('/cloud/v1/floatingips')}/${id}`);
    });
  });
}
