import { describe, expect, it } from 'vitest';
import type { Page, Resource, TaskIds } from '../shapes.ts';
import { refusal, tags, type Walk } from '../walk.ts';
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
/** Rules out of a group that a creation adds by itself are not meant. */
const portsOf = (group: Group) =>
  group.security_group_rules
    .filter(({ direction }) => direction === 'ingress')
    .map((rule) => rule.port_range_min ?? 0)
    .sort((a, b) => a - b);

export function describeSecurityGroups(walk: Walk): void {
  const { client, impatient, place } = walk;
  const V1 = place('/cloud/v1/securitygroups');
  const V2 = place('/cloud/v2/security_groups');
  const read = (id: string) => client.get<Group>(`${V1}/${id}`);

  describe('security groups, version 1', () => {
    let group: Group;

    it('creates one at once', async () => {
      group = await client.post<Group>(V1, {
        security_group: {
          name: 'walk group',
          description: 'for a walk',
          security_group_rules: [
            tcp(22),
            { ...tcp(443), remote_ip_prefix: '10.0.0.0/8', description: 'inside' },
          ],
          tags: { env: 'walk' },
        },
        instances: [],
      });
      expect(group).toMatchObject({ name: 'walk group', tags_v2: tags({ env: 'walk' }) });
      expect(portsOf(group)).toEqual([22, 443]);
      expect(await read(group.id)).toEqual(group);
    });

    it('lists by name and tags, page by page', async () => {
      expect((await client.all<Group>(V1, { limit: 1 })).length).toBeGreaterThan(1);
      expect(await client.all(V1, { name: 'walk group' })).toEqual([group]);
      expect(await client.all(V1, { tag_key: ['env'], tag_key_value: '{"env":"walk"}' })).toEqual([group]);
    });

    it('changes rules one by one, several at a time, and replaces one', async () => {
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
      const RULES = place('/cloud/v1/securitygrouprules');
      const replaced = await client.put<Rule>(`${RULES}/${own.id}`, tcp(8080));
      expect(replaced).toMatchObject({ port_range_min: 8080, remote_group_id: null });
      await client.silent('DELETE', `${RULES}/${replaced.id}`);
      expect(portsOf(await read(group.id))).toEqual([80, 443]);
    });

    it('copies, reverts, tags and deletes it', async () => {
      const copy = await client.post<Group>(`${V1}/${group.id}/copy`, { name: 'walk copy' });
      expect(portsOf(copy)).toEqual([80, 443]);
      const [standard] = await client.all<Group>(V1, { name: 'default' });
      const reverted = await client.post<Group>(`${V1}/${copy.id}/revert`);
      expect(reverted.security_group_rules).toHaveLength(standard?.security_group_rules.length ?? 0);
      await walkMetadata(walk, `${V1}/${copy.id}`);
      expect(await client.get(`${V1}/${group.id}/instances`)).toEqual({ count: 0, results: [] });
      for (const { id } of [group, copy]) {
        await client.silent('DELETE', `${V1}/${id}`);
        await expect(impatient.get(`${V1}/${id}`)).rejects.toMatchObject(refusal(404));
      }
    });
  });

  describe('security groups, version 2', () => {
    let group: Group;

    it('creates them by tasks: all open, none, or what is given', async () => {
      const make = (name: string, rules?: object[]) =>
        client.createAndPoll<Group>(
          V2,
          { name, rules },
          { of: 'security_groups', at: (id) => `${V1}/${id}` },
        );
      const open = await make('walk open');
      expect(new Set(open.security_group_rules.map(({ direction }) => direction))).toEqual(
        new Set(['ingress', 'egress']),
      );
      const shut = await make('walk shut', []);
      expect(shut.security_group_rules).toEqual([]);
      group = await make('walk given', [tcp(22), tcp(80)]);
      expect(portsOf(group)).toEqual([22, 80]);
      for (const { id } of [open, shut]) await client.silent('DELETE', `${V1}/${id}`);
    });

    it('takes a set of rules, and starts no task for the set that is there', async () => {
      const one = `${V2}/${group.id}`;
      const before = new Map(group.security_group_rules.map((rule) => [rule.port_range_min, rule.id]));
      await client.patchAndPoll(one, { rules: [tcp(80), tcp(443)], tags: { env: 'walk' } });
      group = await read(group.id);
      expect(portsOf(group)).toEqual([80, 443]);
      const kept = group.security_group_rules.find((rule) => rule.port_range_min === 80);
      expect(kept?.id).toBe(before.get(80));
      expect(await client.patchAndPoll(one, { rules: [tcp(443), tcp(80)] })).toBeUndefined();
      expect(await client.patchAndPoll(one, { name: 'walk given', description: undefined })).toBeUndefined();
    });

    it('adds a rule by exactly one task that names exactly one rule, and removes it', async () => {
      const { tasks } = await client.post<TaskIds>(`${V2}/${group.id}/rules`, {
        ...tcp(25),
        protocol: null,
        port_range_min: null,
        port_range_max: null,
      });
      expect(tasks).toHaveLength(1);
      const { created_resources: made } = await client.poll({ tasks });
      expect(made?.security_group_rules).toHaveLength(1);
      const [ruleId] = made?.security_group_rules ?? [];
      expect((await read(group.id)).security_group_rules.map(({ id }) => id)).toContain(ruleId);
      await client.deleteAndPoll(`${V2}/${group.id}/rules/${ruleId}`);
      expect(portsOf(await read(group.id))).toEqual([80, 443]);
    });

    it('is one group in both versions', async () => {
      expect((await client.get<Page<Group>>(V1, { name: 'walk given' })).results).toEqual([
        await read(group.id),
      ]);
      await client.silent('DELETE', `${V1}/${group.id}`);
    });
  });
}
