import { describe, expect, it } from 'vitest';
import { type Resource, tags, type Walk } from '../client.ts';
import { walkMetadata } from './metadata.ts';

interface Rule {
  id: string;
  direction: string;
  port_range_min: number | null;
  remote_group_id: string | null;
}

interface Group extends Resource {
  revision_number: number;
  security_group_rules: Rule[];
}

const tcp = (port: number) => ({
  direction: 'ingress',
  ethertype: 'IPv4',
  protocol: 'tcp',
  port_range_min: port,
  port_range_max: port,
});
/** Outgoing rules, which a creation adds automatically, are ignored. */
const portsOf = (group: Group) =>
  group.security_group_rules
    .filter(({ direction }) => direction === 'ingress')
    .map((rule) => rule.port_range_min ?? 0)
    .sort((a, b) => a - b);

export function describeSecurityGroups(walk: Walk): void {
  const { client, place } = walk;
  const V1 = place('/cloud/v1/securitygroups');

  describe('security groups, version 1', () => {
    let group: Group;

    it('creates one at once', async () => {
      group = await client.post<Group>(V1, {
        security_group: {
          name: 'walk group',
          description: 'for a walk',
          security_group_rules: [tcp(22), { ...tcp(443), remote_ip_prefix: '10.0.0.0/8', description: 'inside' }],
          tags: { env: 'walk' },
        },
        instances: [],
      });
      expect(group).toMatchObject({ name: 'walk group', tags_v2: tags({ env: 'walk' }) });
      expect(portsOf(group)).toEqual([22, 443]);
      expect(await client.get(`${V1}/${group.id}`)).toEqual(group);
    });

    it('changes rules one by one and several at a time', async () => {
      const [ssh] = group.security_group_rules.filter((rule) => rule.port_range_min === 22);
      const changed = await client.patch<Group>(`${V1}/${group.id}`, {
        name: 'walk group one',
        changed_rules: [
          { action: 'create', ...tcp(80) },
          { action: 'delete', security_group_rule_id: ssh?.id },
        ],
      });
      expect(portsOf(changed)).toEqual([80, 443]);
      expect(changed.revision_number).toBeGreaterThan(group.revision_number);
      const own = await client.post<Rule>(`${V1}/${group.id}/rules`, {
        direction: 'ingress',
        protocol: 'udp',
        remote_group_id: group.id,
      });
      expect(own.remote_group_id).toBe(group.id);
      await client.silent('DELETE', `${place('/cloud/v1/securitygrouprules')}/${own.id}`);
      expect(portsOf(await client.get<Group>(`${V1}/${group.id}`))).toEqual([80, 443]);
    });

    it('tags it, and lists the instances that it is on', async () => {
      const copy = await client.post<Group>(`${V1}/${group.id}/copy`, { name: 'walk copy' });
      await walkMetadata(walk, `${V1}/${copy.id}`);
      expect(await client.get(`${V1}/${group.id}/instances`)).toEqual({ count: 0, results: [] });
    });
  });
}
