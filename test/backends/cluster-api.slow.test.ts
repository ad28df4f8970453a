import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import type { LiveObject } from '../../kubernetes/applying/client.ts';
import { accessOf } from '../../kubernetes/applying/kubeconfig.ts';
import { createClusterApiBackend } from '../../kubernetes/cluster-api/backend.ts';
import { NODE_ID } from '../../kubernetes/cluster-api/rendering.ts';
import { type Management, startManagement, whyNoClusterApi } from '../support/cluster-api/management.ts';
import { CLUSTER_KIND, startProvider, TEMPLATE_KIND } from '../support/cluster-api/provider.ts';
import { CLUSTERS, POOL } from '../support/clusters.ts';
import { catalogWithClusters, runKubectl, VERSIONS } from '../support/kubernetes.ts';
import { type OidcIssuer, startOidcIssuer } from '../support/oidc-issuer.ts';
import { reservePorts } from '../support/ports.ts';
import { endClustersIn } from '../support/processes-in.ts';
import { startService, type TestService } from '../support/service.ts';
import { conformance } from './conformance.ts';

const TASK_MS = 240_000;
const WITHIN = { timeout: 120_000, interval: 1_000 };
/** How long the management cluster is away; set TEST_AWAY_SECONDS to 60 for a thorough run. */
const AWAY_MS = Number(process.env.TEST_AWAY_SECONDS ?? 10) * 1_000;
const LOOPBACK = '127.0.0.1';

/** etcd beside the machines: the provider's have no kubelet through which Cluster API could look into it. */
const KUBEADM = {
  clusterConfiguration: {
    etcd: {
      external: {
        endpoints: [`https://${LOOPBACK}:2379`],
        caFile: '/etc/kubernetes/pki/etcd/ca.crt',
        certFile: '/etc/kubernetes/pki/apiserver-etcd-client.crt',
        keyFile: '/etc/kubernetes/pki/apiserver-etcd-client.key',
      },
    },
  },
};
const MACHINE = { ...TEMPLATE_KIND, spec: { size: '{flavor_id}', disk: '{boot_volume_gib}' } };
const SETTINGS = {
  cluster: { ...CLUSTER_KIND, spec: { network: '{network_id}' } },
  control_plane: { replicas: 1, machine: { ...TEMPLATE_KIND, spec: { size: 'large' } }, kubeadm: KUBEADM },
  workers: { machine: MACHINE },
  versions: [...VERSIONS],
  drain_seconds: 5,
};

describe.skipIf(whyNoClusterApi)('with a real Cluster API', { timeout: 600_000 }, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cluster-api-'));
  let management: Management;
  let provider: ReturnType<typeof startProvider>;

  beforeAll(async () => {
    management = await startManagement(folder);
    provider = startProvider(accessOf(fs.readFileSync(management.kubeconfig, 'utf8')), {
      clusters: path.join(folder, 'machines'),
      ports: await reservePorts(),
    });
    // It takes long, and mostly waits: the tests before it run meanwhile.
    await begin();
  });
  afterAll(async () => {
    await provider?.stop();
    await management?.stop();
    await endClustersIn(folder, path.join(folder, 'machines'));
  });

  describe('by the API of Tradewind', () => {
    const name = `c${randomBytes(4).toString('hex')}`;
    const where = `${CLUSTERS}/${name}`;
    const config = path.join(folder, 'kubeconfig');
    let issuer: OidcIssuer;
    let road: Awaited<ReturnType<typeof roadTo>>;
    let catalog: string;
    let service: TestService;

    beforeAll(async () => {
      issuer = await startOidcIssuer(folder);
      road = await roadTo(management.kubeconfig, path.join(folder, 'backend.kubeconfig'));
      const password_file = path.join(folder, 'password');
      fs.writeFileSync(password_file, 'sesame', { mode: 0o600 });
      catalog = catalogWithClusters({
        name: 'machines',
        kind: 'cluster-api',
        settings: {
          ...SETTINGS,
          oidc_ca_file: issuer.caFile,
          log_forwarding: { brokers: { 2: ['logs.example:9093'] }, username: 'forwarder', password_file },
        },
        secrets: { kubeconfig: road.kubeconfig },
      });
      service = await startService({ TRADEWIND_CATALOG_DIR: catalog, TRADEWIND_DATA_DIR: folder });
    }, TASK_MS);
    afterAll(async () => {
      await service?.stop();
      road?.close();
      issuer?.close();
      if (catalog) fs.rmSync(catalog, { recursive: true });
    });

    async function begin(method: string, at: string, body?: object): Promise<string> {
      const answer = await service.http.request(method, at, body ? { body } : {});
      expect(answer.status, answer.text).toBe(200);
      return answer.body.tasks?.[0] ?? answer.body[0];
    }
    async function finished(taskId: string): Promise<void> {
      expect(await service.http.task(taskId, TASK_MS)).toMatchObject({ state: 'FINISHED', error: null });
    }
    const change = async (...given: Parameters<typeof begin>) => finished(await begin(...given));
    // biome-ignore lint/suspicious/noExplicitAny: what the clusters answer
    const asJson = async (kubeconfig: string, ...words: string[]): Promise<any> =>
      JSON.parse(await runKubectl(kubeconfig, ...words, '-o', 'json'));
    const managed = (...words: string[]) => asJson(management.kubeconfig, '-n', 'tradewind-1', 'get', ...words);
    const workers = async () => (await asJson(config, 'get', 'nodes', '-l', 'tradewind/pool=web')).items;
    const pool = async () => (await managed('machinedeployment')).items[0];

    it('is made, with the pools, labels and taints that were asked for, in a namespace of its project', async () => {
      const key = await service.http.post('/cloud/v1/ssh_keys/1', { name: 'cluster key' });
      const given = { ...POOL, labels: { tier: 'web' }, taints: { dedicated: 'web:PreferNoSchedule' } };
      const cni = { provider: 'cilium' };
      const body = { name, version: VERSIONS[0], keypair: key.body.name, pools: [given], cni };
      await change('POST', CLUSTERS, body);
      fs.writeFileSync(config, (await service.http.get(`${where}/config`)).body.config, { mode: 0o600 });
      // Its controllers take their own taint away a moment after the node is ready.
      const node = {
        metadata: expect.objectContaining({ labels: expect.objectContaining({ tier: 'web' }) }),
        spec: expect.objectContaining({
          taints: [expect.objectContaining({ key: 'dedicated', effect: 'PreferNoSchedule' })],
        }),
      };
      await expect.poll(workers).toEqual([expect.objectContaining(node)]);
      const labels = { 'tradewind/project': '1', 'app.kubernetes.io/managed-by': 'tradewind' };
      const { metadata } = await asJson(management.kubeconfig, 'get', 'namespace', 'tradewind-1');
      expect(metadata.labels).toMatchObject(labels);
      const limits = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group';
      const deployment = await pool();
      expect(deployment.metadata.annotations).toMatchObject({
        [`${limits}-min-size`]: '1',
        [`${limits}-max-size`]: '3',
      });
      const [template] = (await managed('processmachinetemplates', '-l', 'tradewind/cluster')).items.filter(
        ({ metadata: of }: { metadata: { name: string } }) => of.name.startsWith('p-'),
      );
      // Of the operator's template, with the pool's flavor and disk as a number.
      expect(template.spec.template.spec).toEqual({ size: 'g1-standard-2-4', disk: 50 });
    });

    it('keeps its keys, which are read when somebody asks', async () => {
      const { rows } = await service.pool.query('select cluster_id from kubernetes_credentials');
      expect(rows).toEqual([]);
      const { body } = await service.http.get(`${where}/certificates`);
      expect(body.certificate).toBe(Buffer.from(await caOf(), 'base64').toString());
      road.block();
      expect((await service.http.get(`${where}/config`)).status).toBe(503);
      road.open();
    });
    async function caOf(): Promise<string> {
      const { items } = await managed('cluster');
      return (await managed('secret', `${items[0].metadata.name}-ca`)).data['tls.crt'];
    }

    it('grows, while the management cluster is away for a while', async () => {
      road.block();
      const task = await begin('POST', `${where}/pools/web/resize`, { node_count: 2 });
      await sleep(AWAY_MS);
      expect((await service.http.get(`/cloud/v1/tasks/${task}`)).body.state).toMatch(/^(?:NEW|RUNNING)$/);
      road.open();
      await finished(task);
      expect(await workers()).toHaveLength(2);
    });

    it('has its settings, and takes the tokens that they describe', async () => {
      const token = await issuer.token({ sub: 'alice', aud: 'kubernetes', groups: ['admins'] });
      await expect(whoami(token)).rejects.toThrow(/Unauthorized/);
      await change('PATCH', where, {
        authentication: {
          oidc: { issuer_url: issuer.url, client_id: 'kubernetes', groups_claim: 'groups' },
        },
        autoscaler_config: { 'scan-interval': '20s' },
        cni: { cilium: { lb_mode: 'dsr' } },
        ddos_profile: {
          enabled: true,
          profile_template: 29,
          fields: [{ base_field: 10, field_value: [45046] }],
        },
        logging: { enabled: true, destination_region_id: 2, topic_name: 'demo' },
      });
      // The API server looks for the issuer in its own time.
      await vi.waitFor(async () => {
        expect(await whoami(token)).toMatchObject({ username: 'oidc:alice' });
      }, WITHIN);
      const system = (...words: string[]) => asJson(config, '-n', 'kube-system', 'get', ...words);
      const { spec } = await system('deployment', 'cluster-autoscaler');
      expect(spec.template.spec.containers[0].args).toContain('--scan-interval=20s');
      await system('daemonset', 'tradewind-fluent-bit');
      const service_ = await asJson(config, 'get', 'service', 'kubernetes');
      expect(service_.metadata.annotations).toHaveProperty('tradewind/ddos-profile');
    });
    /** Asks the cluster who the token belongs to. */
    async function whoami(token: string): Promise<{ username: string }> {
      const words = ['--token', token, '--client-certificate=', '--client-key='];
      const server = ['--server', (await service.http.get(`${where}/config`)).body.host];
      const file = path.join(folder, 'own-ca.crt');
      fs.writeFileSync(file, Buffer.from(await caOf(), 'base64'));
      const nobody = path.join(folder, 'nobody.kubeconfig');
      fs.writeFileSync(nobody, '');
      const { status } = await asJson(
        nobody,
        ...server,
        '--certificate-authority',
        file,
        ...words.slice(0, 2),
        'auth',
        'whoami',
      );
      return status.userInfo;
    }

    it('is put right where somebody has changed or removed a part of it', async () => {
      const patch = { spec: { replicas: 9, template: { spec: { version: 'v1.31.0' } } } };
      const before = await pool();
      const at = ['machinedeployment', before.metadata.name];
      const words = ['-n', 'tradewind-1', 'patch', ...at, '--type=merge', '-p', JSON.stringify(patch)];
      await runKubectl(management.kubeconfig, ...words);
      await vi.waitFor(async () => {
        const { spec } = await pool();
        expect([spec.replicas, spec.template.spec.version]).toEqual([2, VERSIONS[0]]);
      }, WITHIN);
      // What nobody could watch is noticed afterwards.
      road.block();
      await runKubectl(management.kubeconfig, '-n', 'tradewind-1', 'delete', ...at, '--wait=false');
      await vi.waitFor(async () => {
        const machines = await managed('machine', '-l', 'tradewind/pool=web');
        expect(machines.items).toEqual([]);
      }, WITHIN);
      road.open();
      await vi.waitFor(async () => {
        const { metadata, status } = await pool();
        expect([metadata.uid === before.metadata.uid, status.availableReplicas]).toEqual([false, 2]);
      }, WITHIN);
    });

    it('replaces the machine of a node that is removed, and no other', async () => {
      const machines = async (): Promise<Record<string, string>> =>
        Object.fromEntries(
          (await managed('machine', '-l', 'tradewind/pool=web')).items.map(({ metadata }: LiveObject) => [
            metadata.annotations?.[NODE_ID],
            metadata.name,
          ]),
        );
      const nodes = async (): Promise<string[]> =>
        (await service.http.get(`${where}/instances`)).body.results.map(({ id }: { id: string }) => id);
      const before = await machines();
      expect(Object.keys(before).toSorted()).toEqual((await nodes()).toSorted());
      const [gone = '', kept = ''] = Object.keys(before);
      const { status } = await service.http.delete(`${where}/pools/web/instances/${gone}`);
      expect(status).toBe(204);
      const { task_id } = (await service.http.get(where)).body;
      await finished(task_id);
      const after = await machines();
      expect(Object.keys(after).toSorted()).toEqual((await nodes()).toSorted());
      expect([after[kept], gone in after]).toEqual([before[kept], false]);
    });

    it('is upgraded, its control plane first, and removed', async () => {
      await change('POST', `${where}/upgrade`, { version: VERSIONS[1] });
      const { serverVersion } = JSON.parse(await runKubectl(config, 'version', '-o', 'json'));
      expect(serverVersion.gitVersion).toBe(VERSIONS[1]);
      for (const { status } of await workers()) expect(status.nodeInfo.kubeletVersion).toBe(VERSIONS[1]);
      await change('DELETE', where);
      const kinds = 'cluster,kubeadmcontrolplane,machinedeployment,machine,kubeadmconfigtemplate';
      expect((await managed(`${kinds},processcluster,processmachine,processmachinetemplate`)).items).toEqual([]);
    });
  });

  const begin = conformance(
    'the backend of Cluster API',
    async () => ({
      kinds: ['cluster'],
      open: () =>
        createClusterApiBackend({
          name: 'conformance',
          access: accessOf(fs.readFileSync(management.kubeconfig, 'utf8')),
          infrastructure: {
            namespacePrefix: 'conformance-',
            cluster: SETTINGS.cluster,
            controlPlane: SETTINGS.control_plane,
            workers: SETTINGS.workers,
            nodeUser: 'tradewind',
            drainSeconds: 5,
          },
          platform: { autoscalerArguments: ['--cloud-provider=clusterapi'] },
          versions: VERSIONS,
        }),
      close: async () => {},
    }),
    { kinds: ['cluster'], mostCalls: 1_000, versions: VERSIONS, sharing: true },
  );
});

/** A way to the management cluster that can be blocked; `kubeconfig` is the one that leads over it. */
async function roadTo(kubeconfig: string, file: string) {
  const config = fs.readFileSync(kubeconfig, 'utf8');
  const { port = 0 } = parse(config).clusters.map(
    (one: { cluster: { server: string } }) => new URL(one.cluster.server),
  )[0];
  const travellers = new Set<net.Socket>();
  let blocked = false;
  const server = net.createServer((from) => {
    if (blocked) return from.destroy();
    const to = net.connect(Number(port), LOOPBACK);
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      travellers.add(one);
      one.on('error', () => other.destroy()).on('close', () => travellers.delete(one));
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
  const own = (server.address() as net.AddressInfo).port;
  fs.writeFileSync(file, config.replace(`:${port}`, `:${own}`), { mode: 0o600 });
  const block = () => {
    blocked = true;
    for (const one of travellers) one.destroy();
  };
  return {
    kubeconfig: file,
    block,
    open: () => {
      blocked = false;
    },
    close: () => {
      block();
      server.close();
    },
  };
}
