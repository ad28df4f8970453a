import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startDatabase } from '../../bench/support/database.ts';
import { startProduct, TOKEN } from '../../bench/support/product.ts';

/** Processes that only answer requests: what works in the background doesn't count. */
const QUIET_MS = 1_500;

/** What a change answers of its tasks: a bare list, or one with a name. */
const tasksIn = (answer: string[] | { tasks?: string[] }): string[] =>
  Array.isArray(answer) ? answer : (answer.tasks ?? []);

/**
 * Returns how many files of `src` each of four requests runs code of, with an API process of the checkout at `root`. The
 * second of two like requests counts. Its `dist` must be built.
 */
export async function filesOfRequests(root: string): Promise<Map<string, number>> {
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

  async function call(method: string, url: string, body?: object) {
    const response = await fetch(`http://127.0.0.1:${api.port}${url}`, {
      method,
      headers: { authorization: `apikey ${TOKEN}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: whatever the server sent.
    const answer: any = await response.json();
    return { status: response.status, answer };
  }

  async function ended(id: string): Promise<void> {
    for (;;) {
      const { answer } = await call('GET', `/v1/tasks/${id}`);
      if (answer.state === 'FINISHED') return;
      if (answer.state === 'ERROR') throw new Error(answer.error);
      await sleep(100);
    }
  }

  /** The files that have run since it was asked last. */
  async function ran(): Promise<string[]> {
    fs.rmSync(file, { force: true });
    api.process.kill('SIGUSR2');
    while (!fs.existsSync(file)) await sleep(10);
    const lines = fs.readFileSync(file, 'utf8').split('\n');
    return lines.filter((url) => url.startsWith('file:') && url.includes('/src/'));
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
      security_group_rules: [
        { direction: 'ingress', protocol: 'tcp', port_range_min: 80, port_range_max: 80 },
      ],
    },
  });
  try {
    await call('POST', '/cloud/v1/ssh_keys/1', { name: 'house' });
    const made = await call('POST', '/cloud/v2/k8s/clusters/1/1', cluster);
    if (made.status !== 200) throw new Error(`The cluster was refused: ${JSON.stringify(made.answer)}`);
    for (const id of tasksIn(made.answer)) await ended(id);
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
      ['GET task', () => call('GET', '/v1/tasks/00000000-0000-4000-8000-000000000000')],
      ['list AI tasks', () => call('GET', '/streaming/ai/tasks?search=house')],
    ];
    const counts = new Map<string, number>();
    for (const [name, ask] of requests) {
      for (const time of ['first', 'second']) {
        // Whatever the last request has left to do.
        await sleep(QUIET_MS);
        await ran();
        const { status, answer } = await ask();
        if (status >= 400 && name !== 'GET task')
          throw new Error(`${name}: ${status} ${JSON.stringify(answer)}`);
        const files = await ran();
        if (time === 'second') counts.set(name, new Set(files).size);
        if (process.env.HOUSE_VERBOSE)
          console.error(name, files.map((url) => url.replace(/.*\/src\//, '')).sort());
        for (const id of tasksIn(answer)) await ended(id);
      }
    }
    return counts;
  } finally {
    await api.stop();
    await worker.stop();
    await database.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
