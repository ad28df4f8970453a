import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createTimedApi } from '../../bench/filled/requests.ts';
import { startDatabase } from '../../bench/support/database.ts';
import { startProduct } from '../../bench/support/product.ts';

/** How long a request may leave something to do, which doesn't count. */
const QUIET_MS = 1_500;
/** So many like requests are looked at. */
const COUNTED = 4;

/**
 * Returns how many files of `src` each of four requests runs code of, with an API process of the checkout at `root`: those that
 * each of several like requests runs. Its `dist` must be built.
 */
export async function filesOfRequests(
  root: string,
  { verbose = false }: { verbose?: boolean | undefined },
): Promise<Map<string, number>> {
  const sources = pathToFileURL(path.join(root, 'src')).href;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'house-'));
  const file = path.join(folder, 'ran');
  const database = await startDatabase();
  const settings = {
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: path.join(folder, 'data'),
    TRADEWIND_SIMULATION_SPEED: '1000',
    HOUSE_COVERAGE: file,
  };
  const worker = await startProduct(settings, { root });
  const hook = fileURLToPath(new URL('coverage.mjs', import.meta.url));
  const api = await startProduct(settings, {
    root,
    role: 'api',
    program: 'src/main.ts',
    nodeArgs: ['--import', 'tsx', '--import', hook],
  });

  const { call, ended } = createTimedApi(api.port);

  /** The files that have run since it was asked last. */
  async function ran(): Promise<string[]> {
    fs.rmSync(file, { force: true });
    api.process.kill('SIGUSR2');
    while (!fs.existsSync(file)) await sleep(10);
    const lines = fs.readFileSync(file, 'utf8').split('\n');
    return lines.filter((url) => url.startsWith(sources));
  }

  const cluster = {
    name: 'house',
    version: 'v1.32.13',
    keypair: 'house',
    pools: [
      {
        name: 'first',
        flavor_id: 'g1-standard-2-4',
        min_node_count: 1,
        boot_volume_size: 50,
        boot_volume_type: 'standard',
        servergroup_policy: 'anti-affinity',
      },
    ],
  };
  const group = (name: string) => ({
    security_group: {
      name,
      security_group_rules: [{ direction: 'ingress', protocol: 'tcp', port_range_min: 80, port_range_max: 80 }],
    },
  });
  try {
    await call('POST', '/cloud/v1/ssh_keys/1', { name: 'house' });
    const made = await call('POST', '/cloud/v2/k8s/clusters/1/1', cluster);
    const { id: taskId } = await ended(made.body);
    let turn = 0;
    const requests: [string, () => ReturnType<typeof call>][] = [
      ['POST security group', () => call('POST', '/cloud/v1/securitygroups/1/1', group(`house-${++turn}`))],
      [
        'PATCH cluster',
        () =>
          call('PATCH', '/cloud/v2/k8s/clusters/1/1/house', {
            autoscaler_config: { 'scan-interval': `${++turn}0s` },
          }),
      ],
      ['GET task', () => call('GET', `/v1/tasks/${taskId}`)],
      ['list AI tasks', () => call('GET', '/streaming/ai/tasks?search=house')],
    ];
    const counts = new Map<string, number>();
    for (const [name, ask] of requests) {
      let own: string[] | undefined;
      for (let time = 0; time <= COUNTED; time++) {
        // Whatever the last request has left to do.
        await sleep(QUIET_MS);
        await ran();
        const { body } = await ask();
        const files = await ran();
        // The first warms. What only some of the others run is background work.
        if (time > 0) own = own?.filter((file) => files.includes(file)) ?? files;
        if (body.tasks) await ended(body);
      }
      counts.set(name, new Set(own).size);
      if (verbose) console.log(name, own?.map((url) => url.slice(sources.length + 1)).toSorted());
    }
    return counts;
  } finally {
    await api.stop();
    await worker.stop();
    await database.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
