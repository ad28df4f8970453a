import { createPrivateKey, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  CLUSTERS,
  type ClusterParts,
  clusterParts,
  makeCluster,
  POOL,
  pauseClusterWork,
} from '../../../../../test/support/clusters.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';

let service: TestService;
let parts: ClusterParts;
beforeAll(async () => {
  service = await startService();
  parts = await clusterParts(service);
});
afterAll(() => service?.stop());

const newCluster = () => makeCluster(service.http, parts.body({ pools: [POOL] }));
const decoded = (text: string) => Buffer.from(text, 'base64').toString();

test('a kubeconfig carries a client certificate that the authority of its cluster signed', async () => {
  const { http } = service;
  const cluster = await newCluster();
  const { body: config, headers } = await http.get(`${CLUSTERS}/${cluster.name}/config`);
  const { body: authority, headers: more } = await http.get(`${CLUSTERS}/${cluster.name}/certificates`);
  for (const sent of [headers, more]) expect(sent.get('cache-control')).toBe('no-store');

  const ca = new X509Certificate(authority.certificate);
  expect(ca.ca).toBe(true);
  expect(ca.verify(ca.publicKey)).toBe(true);
  expect(ca.checkPrivateKey(createPrivateKey(authority.key))).toBe(true);
  const client = new X509Certificate(decoded(config.client_certificate));
  expect(client.ca).toBe(false);
  expect(client.checkIssued(ca)).toBe(true);
  expect(client.verify(ca.publicKey)).toBe(true);
  expect(client.checkPrivateKey(createPrivateKey(decoded(config.client_key)))).toBe(true);
  expect(client.subject.split('\n').toSorted()).toEqual(['CN=kubernetes-admin', 'O=system:masters']);
  expect(decoded(config.cluster_ca_certificate)).toBe(authority.certificate);

  expect(parse(config.config)).toMatchObject({
    kind: 'Config',
    clusters: [
      {
        name: cluster.name,
        cluster: {
          server: config.host,
          'certificate-authority-data': config.cluster_ca_certificate,
        },
      },
    ],
    users: [
      {
        user: {
          'client-certificate-data': config.client_certificate,
          'client-key-data': config.client_key,
        },
      },
    ],
  });
  expect(new Date(client.validTo).getTime()).toBe(new Date(config.expires_at).getTime());
  expect(cluster.authentication).toMatchObject({
    kubeconfig_created_at: config.created_at,
    kubeconfig_expires_at: config.expires_at,
  });
});

test('each cluster has an authority of its own, and shows the same one again', async () => {
  const at = async ({ name }: { name: string }) =>
    (await service.http.get(`${CLUSTERS}/${name}/certificates`)).body.certificate;
  const [one, other] = [await newCluster(), await newCluster()];
  expect(await at(one)).toBe(await at(one));
  expect(await at(one)).not.toBe(await at(other));
});

test('a cluster that is being created has none yet', async () => {
  const { http } = service;
  const goOn = await pauseClusterWork(service);
  const body = parts.body({ pools: [POOL] });
  const [taskId] = (await http.post(CLUSTERS, body)).body;
  expect(await http.get(`${CLUSTERS}/${body.name}/config`)).toMatchObject({ status: 409 });
  await goOn();
  expect(await http.task(taskId)).toMatchObject({ state: 'FINISHED' });
  expect(await http.get(`${CLUSTERS}/${body.name}/config`)).toMatchObject({ status: 200 });
});

test('keys are in no task and no want, and go with their cluster', async () => {
  const { http, pool } = service;
  const { name, id } = await newCluster();
  const { rows: notes } = await pool.query(
    `select to_json(wants) as note from wants union all select to_json(task_wants) from task_wants
     union all select to_json(tasks) from tasks`,
  );
  const texts = JSON.stringify(notes);
  expect([texts.includes('BEGIN CERTIFICATE'), texts.includes('PRIVATE KEY')]).toEqual([true, false]);
  const [taskId] = (await http.delete(`${CLUSTERS}/${name}`)).body;
  expect(await http.task(taskId)).toMatchObject({ state: 'FINISHED' });
  const { rows } = await pool.query(
    `select cluster_id from kubernetes_credentials where cluster_id = $1
     union all select id from simulated_objects where id = $1`,
    [id],
  );
  expect(rows).toEqual([]);
});

test('whoever gets them is recorded, and so is whoever is refused', async () => {
  const { http } = service;
  const { name, id } = await newCluster();
  const engineer = await service.withRole('Engineers');
  const user = await service.withRole('Users');
  const paths = ['config', 'certificates'].flatMap((what) =>
    ['v1', 'v2'].map((version) => `/cloud/${version}/k8s/clusters/1/1/${name}/${what}`),
  );
  for (const path of paths) expect((await engineer.get(path)).status).toBe(200);
  expect((await user.get(paths[0] ?? '')).status).toBe(403);
  const { body } = await http.get(`/tradewind/v1/audit?subject=cluster/${id}&outcome=accepted`);
  const type = 'tradewind.cluster.credentials_read';
  const read = body.records.filter((record: { type: string }) => record.type === type);
  expect(read.map((record: { path: string }) => record.path).toSorted()).toEqual(paths.toSorted());
  expect(read[0]).toMatchObject({ method: 'GET', client_id: 1, project_id: 1, actor: { kind: 'user' } });
  await expect
    .poll(async () => (await http.get(`/tradewind/v1/audit?type=${type}&outcome=refused`)).body.records)
    .toContainEqual(expect.objectContaining({ path: paths[0], status: 403 }));
  const { rows } = await service.pool.query('select a::text as text from user_actions a');
  expect(rows.filter(({ text }) => text.includes('PRIVATE KEY'))).toEqual([]);
});
