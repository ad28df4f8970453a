import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import { CLUSTERS, clusterParts, makeCluster } from '../../../../test/support/clusters.ts';
import { specOf } from '../../../../test/support/infrastructure.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const V1 = '/cloud/v1/securitygroups/1/1';
const V2 = '/cloud/v2/security_groups/1/1';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const NOTHING = { wanted: undefined, there: undefined };
const group = (id: string) => specOf(service.pool, 'security_group', id);
const there = async (id: string) => (await group(id)).there;

async function made(name: string, more: object = {}) {
  const answer = await service.http.post(V1, { security_group: { name, security_group_rules: [], ...more } });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

describe('the infrastructure has a security group', () => {
  it('with its rules, every change of it, and not for longer than it is there', async () => {
    const rules = [{ direction: 'ingress', protocol: 'tcp', port_range_min: 22, port_range_max: 22 }];
    const { id, security_group_rules } = await made('ssh', { description: 'd', security_group_rules: rules });
    const ofRule = {
      direction: 'ingress',
      ethertype: 'IPv4',
      protocol: 'tcp',
      portRangeMin: 22,
      portRangeMax: 22,
    };
    const ssh = security_group_rules.find((rule: { protocol: string }) => rule.protocol === 'tcp');
    await expect.poll(() => there(id)).toMatchObject({ name: 'ssh', description: 'd', rules: { [ssh.id]: ofRule } });

    const added = await service.http.post(`${V1}/${id}/rules`, {
      direction: 'ingress',
      ethertype: 'IPv6',
      remote_group_id: id,
    });
    expect(added.status, added.text).toBe(200);
    await expect
      .poll(async () => (await there(id))?.rules[added.body.id])
      .toEqual({ direction: 'ingress', ethertype: 'IPv6', remoteGroupId: id });
    expect((await service.http.patch(`${V1}/${id}`, { name: 'renamed' })).status).toBe(200);
    await expect.poll(async () => (await there(id))?.name).toBe('renamed');
    expect((await service.http.patch(`${V2}/${id}`, { rules: [] })).status).toBe(200);
    await expect.poll(async () => (await there(id))?.rules).toEqual({});

    expect((await service.http.delete(`${V1}/${id}`)).status).toBe(204);
    await expect.poll(() => group(id)).toEqual(NOTHING);
  });

  it('by a task as well, and by a copy', async () => {
    const answer = await service.http.post(V2, { name: 'by-task' });
    const [id] = (await service.http.task(answer.body[0])).created_resources.security_groups;
    await expect.poll(async () => (await there(id))?.name).toBe('by-task');
    const copy = await service.http.post(`${V1}/${id}/copy`, { name: 'copied' });
    expect(copy.status, copy.text).toBe(200);
    await expect.poll(async () => (await there(copy.body.id))?.name).toBe('copied');
  });

  it('never where its creation is refused', async () => {
    const count = async () => (await service.pool.query(`select from wants where kind = 'security_group'`)).rowCount;
    const before = await count();
    expect((await service.http.post(V1, { security_group: { name: 'by-task' } })).status).toBe(409);
    expect(await count()).toBe(before);
  });
});

it('a port has the groups that it is given, and loses those that it is not', async () => {
  const { id, name } = await made('web');
  const other = (await made('other')).id;
  const answer = await service.http.post('/cloud/v2/instances/1/1', {
    name: 'web-1',
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'external' }],
    volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }],
    security_groups: [{ id: other }],
  });
  expect(answer.status, answer.text).toBe(200);
  const { instances, ports } = (await service.http.task(answer.body[0])).created_resources;
  const groups = async () => (await specOf(service.pool, 'port', ports[0])).there?.groups;
  expect(await groups()).toEqual({ [other]: true });
  const url = `/cloud/v1/instances/1/1/${instances[0]}`;
  expect((await service.http.post(`${url}/addsecuritygroup`, { name })).status).toBe(204);
  await expect.poll(groups).toEqual({ [id]: true, [other]: true });
  expect((await service.http.post(`${url}/delsecuritygroup`, { name })).status).toBe(204);
  await expect.poll(groups).toEqual({ [other]: true });
  const late = await service.http.post(V1, { security_group: { name: 'late' }, instances });
  await expect.poll(groups).toEqual({ [late.body.id]: true, [other]: true });
});

it('a project comes with a network, a subnet and a group in each region, and all go with it', async () => {
  const tenant = await service.otherTenant();
  const project = (await tenant.http.post('/cloud/v1/projects', { name: 'short' })).body.id;
  const kinds = async (table: string) => {
    const { rows } = await service.pool.query<{ id: string; kind: string }>(
      `select id, kind from ${table} where id in (
         select id from networks where project_id = $1 and region_id = 1
         union select subnets.id from subnets join networks on networks.id = network_id
           where project_id = $1 and region_id = 1
         union select id from security_groups where project_id = $1 and region_id = 1) order by kind`,
      [project],
    );
    return rows;
  };
  const own = ['network', 'security_group', 'subnet'];
  const kindsThere = async () => (await kinds('simulated_objects')).map(({ kind }) => kind);
  await expect.poll(kindsThere).toEqual(own);
  const owner = await service.pool.query('select distinct client_id from wants where project_id = $1', [project]);
  expect(owner.rows).toEqual([{ client_id: tenant.clientId }]);
  const ids = (await kinds('wants')).map(({ id }) => id);
  expect(ids).toHaveLength(3);
  expect((await tenant.http.delete(`/cloud/v1/projects/${project}`)).status).toBe(200);
  const left = async () => {
    const query = `select id from wants where project_id = $1
      union all select id from simulated_objects where id = any($2::uuid[])`;
    return (await service.pool.query(query, [project, ids])).rows;
  };
  await expect.poll(left).toEqual([]);
});

it('the group of the nodes of a cluster comes and goes with it', async () => {
  const { body } = await clusterParts(service);
  const cluster = await makeCluster(service.http, body({ name: 'blue' }));
  const { rows } = await service.pool.query('select id from security_groups where cluster_id = $1', [cluster.id]);
  const [{ id }] = rows;
  const rules = (spec: Awaited<ReturnType<typeof there>>) => Object.values(spec?.rules ?? {});
  await expect
    .poll(async () => rules(await there(id)))
    .toContainEqual({ direction: 'ingress', ethertype: 'IPv4', remoteGroupId: id });
  const removal = await service.http.delete(`${CLUSTERS}/blue`);
  expect((await service.http.task(removal.body[0])).state).toBe('FINISHED');
  await expect.poll(() => group(id)).toEqual(NOTHING);
});
