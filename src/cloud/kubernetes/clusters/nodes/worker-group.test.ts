import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { CLUSTERS, type ClusterParts, clusterParts, makeCluster, POOL } from '../../../../../test/support/clusters.ts';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';
import { openDatabase } from '../../../../db/database.ts';
import * as portGroups from '../../../network/ports/groups/in-transaction.ts';

let service: TestService;
let parts: ClusterParts;
beforeAll(async () => {
  service = await borrowService();
  parts = await clusterParts(service);
});
afterAll(() => service?.stop());

const GROUPS = '/cloud/v1/securitygroups/1/1';

async function clusterWithGroup() {
  const { http } = service;
  const cluster = await makeCluster(http, parts.body({ pools: [POOL] }));
  const [group] = (await http.get(`${GROUPS}?name=${cluster.name}-1-1-worker`)).body.results;
  return { cluster, group, at: `${CLUSTERS}/${cluster.name}` };
}

test('the nodes of a cluster share a security group, named and tagged as clients expect it', async () => {
  const { cluster, group } = await clusterWithGroup();
  expect(group.tags_v2).toMatchObject([{ key: 'gcloud_cluster_name', value: cluster.name }]);
  const rules: { description: string; direction: string; remote_group_id: string[] }[] = group.security_group_rules;
  expect(new Set(rules.map(({ description }) => description))).toEqual(new Set(['system']));
  expect(rules.filter(({ direction }) => direction === 'ingress')).toMatchObject([
    { ethertype: 'IPv4', remote_group_id: [group.id] },
    { ethertype: 'IPv6', remote_group_id: [group.id] },
  ]);
  const { body: on } = await service.http.get(`${GROUPS}/${group.id}/instances`);
  expect(on.count).toBe(1);
});

test('a copy of it is nobody’s group but the client’s', async () => {
  const { http } = service;
  const { group } = await clusterWithGroup();
  await http.patch(`${GROUPS}/${group.id}`, { tags: { mine: 'too' } });
  const copy = await http.post(`${GROUPS}/${group.id}/copy`, { name: `copy of ${group.name}` });
  expect(copy.status, copy.text).toBe(200);
  expect(copy.body.tags_v2).toMatchObject([{ key: 'mine' }]);
  expect((await http.delete(`${GROUPS}/${copy.body.id}`)).status).toBe(204);
});

test('it takes rules, but stays what it is while there is a cluster, and goes with it', async () => {
  const { http } = service;
  const { group, at } = await clusterWithGroup();
  const rule = { direction: 'ingress', protocol: 'tcp', port_range_min: 443, port_range_max: 443 };
  expect(await http.post(`${GROUPS}/${group.id}/rules`, rule)).toMatchObject({ status: 200 });
  const refused = [
    await http.delete(`${GROUPS}/${group.id}`),
    await http.patch(`${GROUPS}/${group.id}`, { name: 'mine' }),
    await http.patch(`${GROUPS}/${group.id}`, { tags: { gcloud_cluster_name: null } }),
    await http.patch(`${GROUPS}/${group.id}`, { tags: { gcloud_cluster_name: 'another' } }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409]);
  expect(await http.patch(`${GROUPS}/${group.id}`, { tags: { mine: 'too' } })).toMatchObject({ status: 200 });

  const [taskId] = (await http.delete(at)).body;
  expect(await http.task(taskId)).toMatchObject({ state: 'FINISHED' });
  expect(await http.get(`${GROUPS}/${group.id}`)).toMatchObject({ status: 404 });
});

test('its rules of the platform stay as they are, and take no namesakes', async () => {
  const { http } = service;
  const { group } = await clusterWithGroup();
  const at = `${GROUPS}/${group.id}`;
  const [own] = group.security_group_rules;
  const mine = { direction: 'ingress', protocol: 'tcp', port_range_min: 80, port_range_max: 80 };
  const { body: rule } = await http.post(`${at}/rules`, mine);
  const refused = [
    await http.delete(`/cloud/v1/securitygrouprules/1/1/${own.id}`),
    await http.put(`/cloud/v1/securitygrouprules/1/1/${own.id}`, mine),
    await http.patch(at, { changed_rules: [{ action: 'delete', security_group_rule_id: own.id }] }),
    await http.patch(`/cloud/v2/security_groups/1/1/${group.id}`, { rules: [mine] }),
    await http.post(`${at}/revert`),
    await http.post(`${at}/rules`, { ...mine, port_range_max: 81, description: 'system' }),
    await http.put(`/cloud/v1/securitygrouprules/1/1/${rule.id}`, { ...mine, description: 'system' }),
  ];
  for (const answer of refused) {
    expect(answer, answer.text).toMatchObject({ status: 409 });
    expect(answer.text).toContain('system');
  }
  expect((await http.delete(`/cloud/v1/securitygrouprules/1/1/${rule.id}`)).status).toBe(204);
  expect((await http.get(at)).body.security_group_rules).toHaveLength(group.security_group_rules.length);
});

test('a cluster stays while something else uses the group of its nodes', async () => {
  const { http } = service;
  const { group, at } = await clusterWithGroup();
  const { body: other } = await http.post(GROUPS, {
    security_group: {
      name: 'refers to nodes',
      security_group_rules: [{ direction: 'ingress', remote_group_id: group.id }],
    },
  });
  const refused = [await http.delete(at), await http.delete(`${at}/pools/web`)];
  for (const answer of refused) {
    expect(answer).toMatchObject({ status: 409 });
    expect(answer.text).toContain(`security group ${other.id}`);
  }
  await http.delete(`${GROUPS}/${other.id}`);
  const [taskId] = (await http.delete(at)).body;
  expect(await http.task(taskId)).toMatchObject({ state: 'FINISHED' });
});

test('a group that somebody begins to use while the cluster goes stays as theirs', async () => {
  const { http, pool } = service;
  const { group, at, cluster } = await clusterWithGroup();
  const { body: other } = await http.post(GROUPS, { security_group: { name: 'late' } });
  const [taskId] = (await http.delete(at)).body;
  const rule = { direction: 'ingress', remote_group_id: group.id };
  expect(await http.post(`${GROUPS}/${other.id}/rules`, rule)).toMatchObject({ status: 200 });
  expect(await http.task(taskId)).toMatchObject({ state: 'FINISHED' });
  const { rows } = await pool.query('select cluster_id from security_groups where id = $1', [group.id]);
  expect(rows).toEqual([{ cluster_id: null }]);
  await http.delete(`${GROUPS}/${other.id}`);
  expect(await http.delete(`${GROUPS}/${group.id}`)).toMatchObject({ status: 204 });
  expect(await http.get(`${CLUSTERS}/${cluster.name}`)).toMatchObject({ status: 404 });
});

test('the groups of more nodes than a statement has parameters are put on them', async () => {
  const { pool } = service;
  const { group } = await clusterWithGroup();
  const { rows } = await pool.query('select port_id from port_security_groups where security_group_id = $1', [
    group.id,
  ]);
  const database = openDatabase({ connectionString: pool.options.connectionString ?? '' }, 1);
  onTestFinished(() => database.close());
  const links = Array.from({ length: 40_000 }, () => ({ portId: rows[0].port_id, groupId: group.id }));
  await database.transaction((tx) => portGroups.putOnPorts(tx, links));
  expect((await service.http.get(`${GROUPS}/${group.id}/instances`)).body.count).toBe(1);
});

test('a cluster needs the name of its group', async () => {
  const { http } = service;
  const body = parts.body({ pools: [POOL] });
  await http.post(GROUPS, { security_group: { name: `${body.name}-1-1-worker` } });
  const answer = await http.post(CLUSTERS, body);
  expect(answer).toMatchObject({ status: 409 });
  expect(answer.text).toContain(`${body.name}-1-1-worker`);
});
