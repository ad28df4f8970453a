import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processesOfCluster } from '../../kubernetes/hosted/supervisor/alive.ts';
import { createHttpClient, type HttpClient } from '../../test/support/http-client.ts';
import {
  HOSTED_POOL,
  hostedCatalog,
  KUBERNETES_DIR,
  kubectl,
  VERSIONS,
  whyNoKubernetes,
} from '../../test/support/kubernetes.ts';
import { type ProcessTree, processTree } from '../start/process-tree.ts';
import { startProduct, TOKEN } from '../support/product.ts';
import { median } from '../support/statistics.ts';
import { markdownTable, shown } from '../support/table.ts';

const CLUSTERS = '/cloud/v1/k8s/clusters/1/1';
const TASK_MS = 300_000;
const REST_MS = 20_000;

/** Makes clusters one after another, upgrades one, and removes them. */
export async function measureKubernetes({ quick }: { quick: boolean }): Promise<string> {
  if (whyNoKubernetes !== undefined) return `Skipped, ${whyNoKubernetes}.`;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-bench-'));
  const clusters = path.join(folder, 'data', 'clusters', 'machine');
  const catalog = hostedCatalog({ first_port: 28_300, last_port: 28_399 });
  const product = await startProduct({
    TRADEWIND_DATA_DIR: path.join(folder, 'data'),
    TRADEWIND_CATALOG_DIR: catalog,
    TRADEWIND_KUBERNETES_DIR: KUBERNETES_DIR,
    TRADEWIND_ENCRYPTION_KEY: '',
    TRADEWIND_SIMULATION_SPEED: '100',
  });
  try {
    const http = createHttpClient(`http://127.0.0.1:${product.port}`, TOKEN);
    const { body: key } = await http.post('/cloud/v1/ssh_keys/1', { name: 'bench' });
    const names = Array.from({ length: quick ? 2 : 10 }, (_, index) => `bench${index}`);
    const made: number[] = [];
    for (const name of names) made.push(await secondsOf(() => create(http, folder, name, key.name)));
    await sleep(REST_MS);
    const [first = ''] = names;
    const memory = names.map((name) => treeOf(clusters, idOf(http, name)));
    const trees = await Promise.all(memory);
    const before = cpuOf(trees);
    await sleep(REST_MS);
    const idle =
      (cpuOf(await Promise.all(names.map((name) => treeOf(clusters, idOf(http, name))))) - before) / names.length;
    const disk = Number(
      spawnSync('du', ['-sm', path.join(clusters, await idOf(http, first))], {
        encoding: 'utf8',
      }).stdout.split('\t')[0],
    );
    const away = await upgrade(http, folder, first);
    const removed: number[] = [];
    for (const name of names) removed.push(await secondsOf(() => task(http, http.delete(`${CLUSTERS}/${name}`))));
    return markdownTable(
      [`one of ${names.length} hosted clusters`, 'median', 'worst'],
      [
        ['s from its request to the first `kubectl get ns`', shown(median(made)), shown(Math.max(...made))],
        ['CPU s of its processes until then, and 20 s more', shown(cpuOf(trees.slice(-1))), ''],
        ...PROGRAMS.map((program) =>
          row(
            `MB of memory: ${program}`,
            trees.map((tree) => tree[program]?.pssMegabytes ?? 0),
          ),
        ),
        row(
          'MB of memory, all of it',
          trees.map((tree) => Object.values(tree).reduce((sum, one) => sum + one.pssMegabytes, 0)),
        ),
        ['% of a core when nothing happens', shown((idle / (REST_MS / 1_000)) * 100), ''],
        ['MB on disk', shown(disk), ''],
        ['s without its API in an upgrade', shown(away), ''],
        ['s to remove it', shown(median(removed)), shown(Math.max(...removed))],
      ],
    );
  } finally {
    await product.stop();
    fs.rmSync(clusters, { recursive: true, force: true });
    await sleep(5_000);
    fs.rmSync(folder, { recursive: true, force: true });
    fs.rmSync(catalog, { recursive: true });
  }
}

const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok'];
type Trees = Record<string, ProcessTree>;

const row = (title: string, values: number[]) => [title, shown(median(values)), shown(Math.max(...values))];

const cpuOf = (trees: readonly Trees[]): number =>
  trees.flatMap((tree) => Object.values(tree)).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

async function task(http: HttpClient, request: ReturnType<HttpClient['get']>): Promise<void> {
  const { body, text, status } = await request;
  if (status !== 200) throw new Error(text);
  const ended = await http.task(body.tasks?.[0] ?? body[0], TASK_MS);
  if (ended.state !== 'FINISHED') throw new Error(ended.error);
}

async function create(http: HttpClient, folder: string, name: string, keypair: string): Promise<void> {
  const body = { name, version: VERSIONS[0], keypair, pools: [HOSTED_POOL], cni: { provider: 'cilium' } };
  await task(http, http.post(CLUSTERS, body));
  const { config } = (await http.get(`${CLUSTERS}/${name}/config`)).body;
  const file = path.join(folder, `${name}.kubeconfig`);
  fs.writeFileSync(file, config, { mode: 0o600 });
  kubectl(file, 'get', 'ns');
}

const idOf = async (http: HttpClient, name: string): Promise<string> => (await http.get(`${CLUSTERS}/${name}`)).body.id;

async function treeOf(clusters: string, id: Promise<string>): Promise<Trees> {
  const pids = processesOfCluster(path.join(clusters, await id));
  return Object.fromEntries(pids.map((pid) => [path.basename(fs.readlinkSync(`/proc/${pid}/exe`)), processTree(pid)]));
}

/** Returns for how long the API was away, of the longest time. */
async function upgrade(http: HttpClient, folder: string, name: string): Promise<number> {
  let done = false;
  const upgrading = task(http, http.post(`${CLUSTERS}/${name}/upgrade`, { version: VERSIONS[1] })).finally(() => {
    done = true;
  });
  let [longest, since] = [0, performance.now()];
  while (!done) {
    try {
      kubectl(path.join(folder, `${name}.kubeconfig`), 'get', 'ns', '--request-timeout=1s');
      since = performance.now();
    } catch {
      longest = Math.max(longest, performance.now() - since);
    }
    await sleep(50);
  }
  await upgrading;
  return longest / 1_000;
}
