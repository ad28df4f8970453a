import { expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../support/boot-volume.ts';
import { type Resource, type TaskIds, tags, type Walk } from '../client.ts';
import { walkMetadata } from './metadata.ts';

interface FloatingIp extends Resource {
  floating_ip_address: string;
}

export function describeAddresses(walk: Walk): void {
  const { client, place } = walk;
  const FLOATING = place('/cloud/v1/floatingips');

  it('floating IPs: a change at once, tags', async () => {
    const made = await client.createAndPoll(FLOATING, { port_id: null }, 'floatingips');
    const one = `${FLOATING}/${made.id}`;
    expect(await client.patch(one, { tags: { env: 'later' } })).toMatchObject({
      tags: tags({ env: 'later' }),
    });
    await walkMetadata(walk, one);
  });

  it('floating IPs: those that lead nowhere', async () => {
    const made = await client.createAndPoll(FLOATING, { port_id: null }, 'floatingips');
    const free = await client.list<FloatingIp>(place('/cloud/v1/availablefloatingips'));
    expect(free.map(({ id }) => id)).toContain(made.id);
  });

  it.skipIf(walk.lacks?.includes('DDoS protection'))(
    'DDoS profiles: where they are, what they say, an action, none left',
    async () => {
      const access = await client.get<{ is_accessible: boolean }>('/cloud/v1/ddos/accessibility/1');
      expect(access.is_accessible).toBe(true);
      expect(await client.get('/cloud/v1/ddos/region_coverage/1')).toEqual({ is_covered: true });
      const machine = {
        name: 'walk public',
        flavor: 'g1-standard-1-2',
        interfaces: [{ type: 'external' }],
        volumes: [BOOT_VOLUME],
      };
      const instances = place('/cloud/v1/instances');
      const { fixed_ip_assignments: addresses } = await client.createAndPoll<{
        fixed_ip_assignments: { ip_address: string }[];
      }>(place('/cloud/v2/instances'), machine, 'instances', instances);
      const body = {
        profile_template: 29,
        ip_address: addresses[0]?.ip_address,
        fields: [{ base_field: 10, field_value: [45046] }],
      };
      const PROFILES = place('/cloud/v1/ddos/profiles');
      await client.poll(await client.post<TaskIds>(PROFILES, body));
      const [profile] = await client.list<{ id: number }>(PROFILES, { order_by: 'id.desc' });
      const one = `${PROFILES}/${profile?.id}`;
      await client.poll(await client.patch<TaskIds>(one, body));
      await client.poll(await client.post<TaskIds>(`${one}/action`, { active: false, bgp: false }));
      await client.poll(await client.delete<TaskIds>(one));
      expect(await client.list(PROFILES)).toEqual([]);
    },
  );

  it('reserved fixed IPs: a floating IP is made of one, and one of that', async () => {
    const RESERVED = place('/cloud/v1/reserved_fixed_ips');
    const body = { type: 'external', ip_family: 'ipv4' };
    const reserved = await client.createAndPoll<{ port_id: string; fixed_ip_address: string }>(RESERVED, body, 'ports');
    const started = await client.post<TaskIds>(`${RESERVED}/${reserved.port_id}/convert`, {
      target_type: 'floating_ip',
    });
    const { created_resources: made } = await client.poll(started);
    const read = await client.get<FloatingIp>(`${FLOATING}/${made?.floatingips?.[0]}`);
    expect(read.floating_ip_address).toBe(reserved.fixed_ip_address);
    const back = await client.post<TaskIds>(`${FLOATING}/${read.id}/convert`, {
      target_type: 'reserved_fixed_ip',
    });
    const { created_resources: again } = await client.poll(back);
    const found = await client.get<{ fixed_ip_address: string }>(`${RESERVED}/${again?.ports?.[0]}`);
    expect(found.fixed_ip_address).toBe(reserved.fixed_ip_address);
  });
}
