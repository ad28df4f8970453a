import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { installedVersions } from '../../kubernetes/hosted/programs/folders.ts';
import { runningSupervisor } from '../../kubernetes/hosted/supervisor/start.ts';
import { CLUSTERS } from '../support/clusters.ts';
import { createHttpClient, type HttpClient, SOON } from '../support/http-client.ts';
import {
  controlPlanes,
  hostedCatalog,
  KUBERNETES_DIR,
  kubectl,
  HOSTED_POOL as POOL,
  programsOf,
  runKubectl,
  VERSIONS,
  whyNoKubernetes,
} from '../support/kubernetes.ts';
import { reservePorts } from '../support/ports.ts';
import { endClustersIn, killIfThere } from '../support/processes-in.ts';
import { build, ROOT, runTradewind, type ServeProcess, serve, temporaryFolder } from './processes.ts';

/** How often everything is killed while clusters are made and removed. Set TEST_HOSTED_KILLS to 50 for a thorough run. */
const KILLS = Number(process.env.TEST_HOSTED_KILLS ?? 4);
const TOKEN = '7$acceptance-secret';
const TASK_MS = 120_000;
const TEST_MS = 300_000 + KILLS * 10_000;
const CONTROL_PLANE = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok'];
// The embedded PostgreSQL is one version only.
const skipped = whyNoKubernetes !== undefined || process.env.TEST_POSTGRES !== undefined;

const ports = await reservePorts();

describe.skipIf(skipped)('clusters whose control planes are processes', { timeout: TEST_MS }, () => {
  const folder = temporaryFolder();
  const clusters = path.join(folder, 'data', 'clusters', 'machine');
  const catalog = hostedCatalog({ first_port: ports.from, last_port: ports.to, durable: false });
  const settings = {
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_CATALOG_DIR: catalog,
    TRADEWIND_DATA_DIR: path.join(folder, 'data'),
    TRADEWIND_KUBERNETES_DIR: KUBERNETES_DIR,
    TRADEWIND_SIMULATION_SPEED: '20',
    TRADEWIND_LOG_LEVEL: 'warn',
  };
  let server: ServeProcess;
  let http: HttpClient;
  let keypair: string;

  async function start(): Promise<void> {
    server = await serve(settings);
    http = createHttpClient(server.url, TOKEN);
  }

  beforeAll(async () => {
    build();
    await start();
    const key = await http.post('/cloud/v1/ssh_keys/1', { name: 'cluster key' });
    if (key.status !== 201) throw new Error(key.text);
    keypair = key.body.name;
  });
  afterAll(async () => {
    await server?.end('SIGKILL');
    await endClustersIn(folder, clusters);
    fs.rmSync(catalog, { recursive: true });
  });

  async function accepted(method: string, where: string, body?: object): Promise<string> {
    const answer = await http.request(method, where, { body });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.tasks?.[0] ?? answer.body[0];
  }
  const newName = () => `c${randomBytes(4).toString('hex')}`;
  const create = (name: string, more: object = {}) =>
    accepted('POST', CLUSTERS, {
      name,
      version: VERSIONS[0],
      keypair,
      pools: [POOL],
      cni: { provider: 'cilium' },
      ...more,
    });
  async function finished(taskId: string) {
    const task = await http.task(taskId, TASK_MS);
    expect(task).toMatchObject({ state: 'FINISHED', error: null });
    return task;
  }
  async function kubeconfigOf(name: string): Promise<string> {
    const { body, status, text } = await http.get(`${CLUSTERS}/${name}/config`);
    expect(status, text).toBe(200);
    const file = path.join(folder, `${name}.kubeconfig`);
    fs.writeFileSync(file, body.config, { mode: 0o600 });
    return file;
  }
  const idOf = async (name: string): Promise<string> => (await http.get(`${CLUSTERS}/${name}`)).body.id;
  const nodesIn = (kubeconfig: string) => JSON.parse(kubectl(kubeconfig, 'get', 'nodes', '-o', 'json')).items;
  /** What runs for the cluster, by program. */
  const running = async (name: string) => programsOf(path.join(clusters, await idOf(name)));
  async function gone(id: string): Promise<void> {
    await vi.waitFor(() => expect(programsOf(path.join(clusters, id))).toEqual([]), SOON);
    expect(fs.existsSync(path.join(clusters, id))).toBe(false);
    expect(fs.readdirSync(path.join(clusters, '.ports')).toSorted()).toEqual(
      Object.keys(controlPlanes(clusters))
        .map((other) => String(portOf(other)))
        .toSorted(),
    );
  }
  const portOf = (id: string): number =>
    JSON.parse(fs.readFileSync(path.join(clusters, id, 'cluster.json'), 'utf8')).port;

  /** Reads again and again. Returns how many times it began to fail. */
  async function outagesUntil(signal: AbortSignal, config: string): Promise<number> {
    let outages = 0;
    for (let answered = true; !signal.aborted; ) {
      const words = ['get', 'deployment', 'shop', '--request-timeout=5s'];
      const now = await runKubectl(config, ...words).then(
        () => true,
        () => false,
      );
      if (answered && !now) outages += 1;
      answered = now;
      await sleep(100);
    }
    return outages;
  }

  it('are made by the API, run what users deploy, grow, are upgraded, outlive Tradewind, and leave nothing', async () => {
    const name = newName();
    await finished(await create(name));
    const config = await kubeconfigOf(name);

    const nodes = nodesIn(config);
    const shown = (await http.get(`${CLUSTERS}/${name}/instances`)).body.results;
    const names = (list: { name: string }[]) => new Set(list.map((one) => one.name));
    expect(names(nodes.map((node: { metadata: { name: string } }) => node.metadata))).toEqual(names(shown));
    for (const node of nodes) {
      expect(node.metadata.labels).toMatchObject({
        tier: 'web',
        'node.kubernetes.io/instance-type': 'g1-standard-2-4',
        'tradewind/pool': 'web',
      });
      expect(node.spec.taints).toContainEqual({ key: 'dedicated', value: 'web', effect: 'PreferNoSchedule' });
      expect(node.status.capacity).toMatchObject({ cpu: '2', memory: '4Gi' });
      expect(node.status.nodeInfo.osImage).toBe('simulated by kwok');
    }
    expect(await running(name)).toEqual(CONTROL_PLANE);
    kubectl(config, 'create', 'deployment', 'shop', '--image=shop', '--replicas=3');
    kubectl(config, 'rollout', 'status', 'deployment/shop', '--timeout=50s');

    await finished(await accepted('POST', `${CLUSTERS}/${name}/pools/web/resize`, { node_count: 3 }));
    await vi.waitFor(() => expect(nodesIn(config)).toHaveLength(3), SOON);

    // Killed, and with it nothing of the cluster.
    const id = await idOf(name);
    const before = JSON.parse(fs.readFileSync(path.join(clusters, id, 'status.json'), 'utf8'));
    await server.end('SIGKILL');
    expect(nodesIn(config)).toHaveLength(3);
    await start();
    expect(JSON.parse(fs.readFileSync(path.join(clusters, id, 'status.json'), 'utf8'))).toEqual(before);
    // The supervisor is killed, and everything comes back with what it held.
    killIfThere(runningSupervisor(clusters)?.pid ?? expect.fail('No supervisor runs'));
    await vi.waitFor(() => {
      expect(runningSupervisor(clusters)?.pid).not.toBe(before.supervisor.pid);
      kubectl(config, 'get', 'deployment', 'shop');
    }, SOON);
    await vi.waitFor(async () => expect(await running(name)).toEqual(CONTROL_PLANE), SOON);

    // Who reads meanwhile is held up at most twice, by the restarts of etcd (where it takes longer than a client waits)
    // and of the API server.
    const upgraded = new AbortController();
    const outages = outagesUntil(upgraded.signal, config);
    await finished(await accepted('POST', `${CLUSTERS}/${name}/upgrade`, { version: VERSIONS[1] }));
    upgraded.abort();
    expect(await outages).toBeLessThanOrEqual(2);
    expect(JSON.parse(kubectl(config, 'version', '-o', 'json')).serverVersion.gitVersion).toBe(VERSIONS[1]);
    kubectl(config, 'rollout', 'status', 'deployment/shop', '--timeout=50s');
    expect(await running(name)).toEqual(CONTROL_PLANE);

    await finished(await accepted('DELETE', `${CLUSTERS}/${name}`));
    await gone(id);
    await vi.waitFor(() => expect(runningSupervisor(clusters)).toBeUndefined(), SOON);
  });

  it('are only offered in the versions that are installed', async () => {
    const { body } = await http.get('/cloud/v2/k8s/1/1/create_versions');
    const installed = installedVersions(KUBERNETES_DIR);
    expect(body.results.map(({ version }: { version: string }) => version)).toEqual(installed);
    const refused = await http.post(CLUSTERS, {
      name: newName(),
      version: 'v1.35.1',
      keypair,
      pools: [POOL],
      cni: { provider: 'cilium' },
    });
    expect([refused.status, refused.body.invalid_fields?.version]).toEqual([
      400,
      [`Unknown version v1.35.1. Must be one of: ${installed.join(', ')}.`],
    ]);
    const { stdout } = runTradewind(['doctor'], settings);
    expect(stdout).toContain(
      `ok       Backend machine: of the kind hosted; Kubernetes ${installed.join(', ')} in ${KUBERNETES_DIR}`,
    );
  });

  it(`are there once, or not at all, after ${KILLS} kills of Tradewind and of the supervisor`, async () => {
    const name = newName();
    // Where a test before has failed.
    const before = new Set(Object.keys(controlPlanes(clusters)));
    let kills = 0;
    /** Kills one or the other, until the task has ended, at times that nobody has chosen. */
    async function killedUntilDone(taskId: string): Promise<void> {
      const most = kills + KILLS / 2;
      while (kills < most) {
        await sleep(Math.random() * 4_000);
        const supervisor = runningSupervisor(clusters);
        if (supervisor && kills % 2 === 1) killIfThere(supervisor.pid);
        else {
          await server.end('SIGKILL');
          await start();
        }
        kills += 1;
      }
      await finished(taskId);
    }
    await killedUntilDone(await create(name));
    const id = await idOf(name);
    const config = await kubeconfigOf(name);
    expect(nodesIn(config)).toHaveLength(2);
    await vi.waitFor(async () => expect(await running(name)).toEqual(CONTROL_PLANE), SOON);
    const made = Object.entries(controlPlanes(clusters)).filter(([one]) => !before.has(one));
    expect(made).toEqual([[id, CONTROL_PLANE]]);
    await killedUntilDone(await accepted('DELETE', `${CLUSTERS}/${name}`));
    expect(kills).toBeGreaterThanOrEqual(KILLS);
    await gone(id);
  });

  it('are what the README makes, where the programs are there', async () => {
    const readme = fs.readFileSync(path.join(ROOT, 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = '']) => text);
    const block = (part: string) => blocks.find((text) => text.includes(part)) ?? expect.unreachable(part);
    const home = path.join(folder, 'home');
    fs.cpSync(path.join(ROOT, 'catalog'), path.join(home, 'catalog'), { recursive: true });
    /** In a shell, as if typed, but for what is installed already. */
    const typed = (script: string) => {
      const first = `T='Authorization: apikey ${TOKEN}' J='Content-Type: application/json' H=${server.url}\n`;
      const lines = script.split('\n').filter((line) => !/^T=|^npx /.test(line));
      const { stdout, stderr, status } = spawnSync('sh', ['-s'], {
        cwd: home,
        encoding: 'utf8',
        env: { ...process.env, PATH: `${path.join(KUBERNETES_DIR, VERSIONS[1])}:${process.env.PATH}` },
        input: first + lines.join('\n'),
      });
      expect(status, stderr).toBe(0);
      return stdout;
    };
    expect(block('region use')).toContain('npx tradewind region use hosted\n');
    const own = { ...settings, TRADEWIND_CATALOG_DIR: path.join(home, 'catalog') };
    const used = runTradewind(['region', 'use', 'hosted'], own);
    expect(used.status, used.stderr).toBe(0);

    expect(typed(block('TASK='))).toContain('"state"');
    await vi.waitFor(async () => {
      const { body } = await http.get(`${CLUSTERS}/demo`);
      expect(body).toMatchObject({ status: 'Provisioned', task_id: null });
    }, SOON);
    expect(typed(block('kubectl'))).toMatch(/^\S+ +Ready /m);
    await finished(await accepted('DELETE', `${CLUSTERS}/demo`));
  });
});
