import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { processesOfCluster } from '../../kubernetes/hosted/supervisor/alive.ts';
import { CLUSTERS, type ClusterParts, clusterParts } from '../support/clusters.ts';
import { SOON } from '../support/http-client.ts';
import {
  hostedCatalog,
  KUBERNETES_DIR,
  runKubectl,
  SLURM_VERSION,
  VERSIONS,
  whyWithout,
} from '../support/kubernetes.ts';
import { type OidcIssuer, startOidcIssuer } from '../support/oidc-issuer.ts';
import { reservePorts } from '../support/ports.ts';
import { endClustersIn } from '../support/processes-in.ts';
import { startService, type TestService } from '../support/service.ts';
import { SLURM_KIND } from '../support/soperator.ts';

const TASK_MS = 120_000;
const hasSlurm = whyWithout([SLURM_VERSION]) === undefined;
if (!hasSlurm) console.log(`SKIPPED, Slurm by the API for want of Kubernetes ${SLURM_VERSION}`);
const VERSION = hasSlurm ? SLURM_VERSION : VERSIONS[0];

describe.skipIf(whyWithout([VERSION]))('settings of a hosted cluster', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hosted-groups-'));
  const name = `c${randomBytes(4).toString('hex')}`;
  const where = `${CLUSTERS}/${name}`;
  const config = path.join(folder, 'kubeconfig');
  let issuer: OidcIssuer;
  let catalog: string;
  let service: TestService;
  let parts: ClusterParts;

  beforeAll(async () => {
    issuer = await startOidcIssuer(folder);
    catalog = await catalogFor(issuer);
    service = await startService({
      TRADEWIND_CATALOG_DIR: catalog,
      TRADEWIND_DATA_DIR: folder,
      TRADEWIND_KUBERNETES_DIR: KUBERNETES_DIR,
    });
    parts = await clusterParts(service);
    const { error } = await change('POST', CLUSTERS, parts.body({ name, version: VERSION }));
    if (error !== null) throw new Error(error);
    fs.writeFileSync(config, (await service.http.get(`${where}/config`)).body.config);
  }, TASK_MS);
  afterAll(async () => {
    await service?.stop();
    issuer?.close();
    await endClustersIn(folder, path.join(folder, 'clusters'));
    if (catalog) fs.rmSync(catalog, { recursive: true });
  });

  async function catalogFor({ caFile }: OidcIssuer): Promise<string> {
    const { from, to } = await reservePorts();
    const password_file = path.join(folder, 'password');
    fs.writeFileSync(password_file, 'sesame', { mode: 0o600 });
    const brokers = { 2: ['logs.example:9093'] };
    return hostedCatalog({
      first_port: from,
      last_port: to,
      durable: false,
      oidc_ca_file: caFile,
      log_forwarding: { brokers, namespace: 'p1', username: 'forwarder', password_file },
      slurm: { gpus_per_worker: 8, server: 'vast.example', path: '/shares/{id}' },
    });
  }

  async function begin(method: string, at: string, body: object): Promise<string> {
    const answer = await service.http.request(method, at, { body });
    expect(answer.status, answer.text).toBe(200);
    return answer.body[0];
  }
  const change = async (method: string, at: string, body: object) =>
    service.http.task(await begin(method, at, body), TASK_MS);
  const objects = async (...words: string[]) => JSON.parse(await runKubectl(config, ...words, '-o', 'json'));
  const system = (...words: string[]) => objects('-n', 'kube-system', 'get', ...words);
  const argumentsOf = (deployment: { spec: { template: { spec: { containers: { args: string[] }[] } } } }) =>
    deployment.spec.template.spec.containers[0]?.args;

  /** What the API server runs with, as the kernel has it. */
  function flagsOfApiServer(): string[] {
    const [id = ''] = fs
      .readdirSync(path.join(folder, 'clusters', 'machine'))
      .filter((each) => /^[0-9a-f-]{36}$/.test(each));
    const pids = processesOfCluster(path.join(folder, 'clusters', 'machine', id));
    const commands = pids.map((pid) => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'));
    return commands.find(([program]) => program?.endsWith('/kube-apiserver')) ?? [];
  }

  /** Asks the cluster who the token belongs to. */
  async function whoami(token: string): Promise<{ username: string; groups: string[] }> {
    const { clusters } = parse(fs.readFileSync(config, 'utf8'));
    const own = path.join(folder, 'token-kubeconfig');
    const context = { cluster: clusters[0].name, user: 'bearer' };
    fs.writeFileSync(
      own,
      stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters,
        users: [{ name: 'bearer', user: { token } }],
        contexts: [{ name: 'only', context }],
        'current-context': 'only',
      }),
    );
    return JSON.parse(await runKubectl(own, 'auth', 'whoami', '-o', 'json')).status.userInfo;
  }

  it('are seen in the cluster by others, and its API server takes the tokens that they describe', async () => {
    // What installations of Cilium and Soperator bring; nothing of them runs here.
    await runKubectl(config, 'apply', '-f', write('cilium.yaml', ciliumAgents()));
    await runKubectl(config, 'apply', '-f', write('slurm.yaml', SLURM_KIND));
    const slurm = {
      enabled: true,
      file_share_id: parts.shareId,
      ssh_key_ids: [parts.keyId],
      worker_count: 2,
    };
    const claims = {
      sub: 'alice',
      email: 'alice@example.com',
      groups: ['admins'],
      hd: 'example.com',
      aud: 'kubernetes',
    };
    const good = await issuer.token(claims);
    await expect(whoami(good)).rejects.toThrow(/Unauthorized/);
    const done = await change('PATCH', where, {
      ...(hasSlurm && { add_ons: { slurm } }),
      authentication: {
        oidc: {
          issuer_url: issuer.url,
          client_id: 'kubernetes',
          username_claim: 'email',
          username_prefix: 'people:',
          groups_claim: 'groups',
          groups_prefix: 'team:',
          required_claims: { hd: 'example.com' },
        },
      },
      autoscaler_config: {
        'scan-interval': '20s',
        expander: 'priority,least-waste',
        'max-empty-bulk-delete': '4',
      },
      cni: { cilium: { encryption: true, hubble_relay: true, lb_mode: 'dsr' } },
      ddos_profile: {
        enabled: true,
        profile_template: 29,
        fields: [{ base_field: 10, field_value: [45046] }],
      },
      logging: { enabled: true, destination_region_id: 2, topic_name: 'demo' },
    });
    expect(done).toMatchObject({ state: 'FINISHED', error: null });

    expect(flagsOfApiServer()).toEqual(
      expect.arrayContaining([
        `--oidc-issuer-url=${issuer.url}`,
        '--oidc-client-id=kubernetes',
        '--oidc-username-prefix=people:',
        '--oidc-groups-prefix=team:',
        '--oidc-required-claim=hd=example.com',
        '--oidc-signing-algs=RS256',
      ]),
    );
    const autoscaler = await system('deployment', 'cluster-autoscaler');
    expect(argumentsOf(autoscaler)).toEqual(
      expect.arrayContaining([
        '--scan-interval=20s',
        '--expander=priority,least-waste',
        '--max-scale-down-parallelism=4',
        '--scale-down-unneeded-time=5m',
      ]),
    );
    expect(autoscaler.status).toMatchObject({ updatedReplicas: 1, availableReplicas: 1, replicas: 1 });
    expect((await system('configmap', 'cluster-autoscaler-priority-expander')).data.priorities).toContain('10:');
    expect((await system('configmap', 'cilium-config')).data).toMatchObject({
      'bpf-lb-mode': 'dsr',
      'enable-wireguard': 'true',
      'tunnel-protocol': 'geneve',
    });
    expect((await system('daemonset', 'cilium')).spec.template.metadata.annotations).toHaveProperty([
      'tradewind/configuration-hash',
    ]);
    expect((await system('deployment', 'hubble-relay')).status.availableReplicas).toBe(1);
    const agents = await system('daemonset', 'tradewind-fluent-bit');
    expect(agents.status.numberAvailable).toBe(agents.status.desiredNumberScheduled);
    expect((await system('configmap', 'tradewind-fluent-bit')).data['fluent-bit.conf']).toContain('Topics p1.demo\n');
    const { metadata } = await objects('get', 'service', 'kubernetes');
    expect(JSON.parse(metadata.annotations['tradewind/ddos-profile'])).toEqual({
      profile_template: 29,
      fields: [{ base_field: 10, field_value: [45046] }],
    });
    if (hasSlurm) await expectSlurm();

    // The API server looks for the issuer only after it is ready.
    const known = await vi.waitFor(() => whoami(good), SOON);
    expect(known).toMatchObject({
      username: 'people:alice@example.com',
      groups: ['team:admins', 'system:authenticated'],
    });
    const { hd: _, ...without } = claims;
    const bad = {
      'for another client': await issuer.token({ ...claims, aud: 'somebody else' }),
      'without a required claim': await issuer.token(without),
      'with another value of it': await issuer.token({ ...claims, hd: 'example.org' }),
      'of an algorithm that is not accepted': await issuer.token(claims, 'ES256'),
    };
    for (const [what, token] of Object.entries(bad)) await expect(whoami(token), what).rejects.toThrow(/Unauthorized/);
  });

  async function expectSlurm(): Promise<void> {
    const { spec } = await objects('-n', 'tradewind-slurm', 'get', 'slurmcluster', 'slurm');
    const { body } = await service.http.get(`/cloud/v1/ssh_keys/1/${parts.keyId}`);
    expect(spec.slurmNodes).toMatchObject({
      worker: { size: 2 },
      login: { sshRootPublicKeys: [body.public_key.trim()] },
    });
    // The controller manager binds them in its own time.
    await vi.waitFor(async () => {
      const claims = await objects('-n', 'tradewind-slurm', 'get', 'persistentvolumeclaim');
      const phases = claims.items.map(({ status }: { status: { phase: string } }) => status.phase);
      expect(phases).toEqual(['Bound', 'Bound']);
    }, SOON);
    const { spec: volume } = await objects('get', 'persistentvolume', 'slurm-jail');
    expect(volume.nfs).toEqual({ server: 'vast.example', path: `/shares/${parts.shareId}/jail` });
  }

  it('go from the cluster when they are switched off', async () => {
    const done = await change('PATCH', where, {
      ...(hasSlurm && { add_ons: { slurm: { enabled: false } } }),
      authentication: { oidc: null },
      ddos_profile: { enabled: false },
      logging: { enabled: false },
      cni: { cilium: { hubble_relay: false } },
    });
    expect(done).toMatchObject({ state: 'FINISHED', error: null });
    const left = await runKubectl(
      config,
      '-n',
      'kube-system',
      'get',
      'daemonset,deployment,configmap,secret',
      '-o',
      'name',
    );
    expect(left).not.toMatch(/fluent-bit|hubble/);
    expect(await runKubectl(config, 'get', 'slurmcluster,persistentvolume', '-A', '-o', 'name')).toBe('');
    expect((await objects('get', 'service', 'kubernetes')).metadata.annotations ?? {}).toEqual({});
    expect(flagsOfApiServer().join(' ')).not.toContain('--oidc');
  });

  it('that keep a program from running end the task with its last words, and the former ones stand', async () => {
    const before = argumentsOf(await system('deployment', 'cluster-autoscaler'));
    const taskId = await begin('PATCH', where, { autoscaler_config: { 'scan-interval': '99h' } });
    // kwok lets every container run, so the test is the kubelet of this one.
    const pod = await vi.waitFor(async () => {
      const { items } = await system('pod', '-l', 'app=cluster-autoscaler');
      const found = items.find(
        (each: { spec: { containers: { args: string[] }[] }; status: { podIP?: string } }) =>
          each.spec.containers[0]?.args.includes('--scan-interval=99h') && each.status.podIP,
      );
      expect(found).toBeDefined();
      return found;
    }, SOON);
    const status = {
      conditions: ['Ready', 'ContainersReady'].map((type) => ({ type, status: 'False' })),
      containerStatuses: [
        {
          ...pod.status.containerStatuses[0],
          ready: false,
          restartCount: 3,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: {
            terminated: { exitCode: 255, reason: 'Error', message: 'F1 main.go] 99h is too long\n' },
          },
        },
      ],
    };
    await runKubectl(
      config,
      '-n',
      'kube-system',
      'patch',
      'pod',
      pod.metadata.name,
      '--subresource=status',
      '-p',
      JSON.stringify({ status }),
    );
    const { state, error } = await service.http.task(taskId, TASK_MS);
    expect(state).toBe('ERROR');
    expect(error).toContain(
      'container cluster-autoscaler keeps crashing (exit code 255, Error): F1 main.go] 99h is too long',
    );
    await vi.waitFor(
      async () => expect(argumentsOf(await system('deployment', 'cluster-autoscaler'))).toEqual(before),
      SOON,
    );
    await runKubectl(
      config,
      '-n',
      'kube-system',
      'rollout',
      'status',
      'deployment/cluster-autoscaler',
      '--timeout=50s',
    );
    const { autoscaler_config } = (await service.http.get(where)).body;
    expect(autoscaler_config).toMatchObject({ 'scan-interval': '20s' });
  });

  function write(file: string, content: object): string {
    const at = path.join(folder, file);
    fs.writeFileSync(at, stringify(content));
    return at;
  }
});

function ciliumAgents() {
  const labels = { 'k8s-app': 'cilium' };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'cilium', namespace: 'kube-system' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'cilium-agent', image: 'cilium' }] } },
    },
  };
}
