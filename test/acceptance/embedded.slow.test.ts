import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient } from '../support/http-client.ts';
import { build, environment, ROOT, runTradewind, type ServeProcess, serve, temporaryFolder } from './processes.ts';

const TOKEN = '7_acceptance-secret';
const hasTerminals = spawnSync('script', ['--version']).status === 0;

beforeAll(build);

// Many starts, each of which takes long on a busy machine.
describe('from clone to first call', () => {
  const dataDir = path.join(temporaryFolder(), 'data');
  const settings = { TRADEWIND_DATA_DIR: dataDir };
  afterAll(() => fs.rmSync(path.dirname(dataDir), { recursive: true, force: true }));

  it('keeps the first token in a file and prints a curl line that works, keeps its data, and stops on SIGINT', async () => {
    const first = await serve({ ...settings, TRADEWIND_LOG_FORMAT: 'json' });
    const file = path.join(dataDir, 'first-token');
    const token = fs.readFileSync(file, 'utf8').trim();
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(first.stdout()).toContain(`The API token is in ${file}`);
    expect(first.stdout() + first.stderr()).not.toContain(token.slice(5));
    const curl = /^curl .*$/m.exec(first.stdout())?.[0] ?? '';
    const called = spawnSync('sh', ['-c', `${curl} --silent`], { encoding: 'utf8' });
    expect(JSON.parse(called.stdout)).toMatchObject({ count: 1, results: [{ id: 1, is_default: true }] });
    const created = await createHttpClient(first.url, token).post('/cloud/v1/securitygroups/1/1', {
      security_group: { name: 'kept' },
    });
    expect(await first.end('SIGINT')).toBe(0);

    const second = await serve(settings);
    expect(second.stdout()).toContain(`Use the API token in ${file}`);
    const http = createHttpClient(second.url, token);
    expect((await http.get(`/cloud/v1/securitygroups/1/1/${created.body.id}`)).body).toEqual(created.body);
    expect((await http.get('/readyz')).body.status).toBe('ready');
    expect(await second.end()).toBe(0);
  });

  it.runIf(hasTerminals)('shows the token at a terminal, and keeps it nowhere', async () => {
    const own = path.join(path.dirname(dataDir), 'terminal');
    const child = spawn('script', ['-qec', 'node dist/src/main.js serve', '/dev/null'], {
      cwd: ROOT,
      env: environment({ TRADEWIND_DATA_DIR: own }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let shown = '';
    child.stdout.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
    });
    await until(async () => shown.includes('curl'));
    const [, token] = /^API token: (\d+_[0-9a-f]{64})\r?$/m.exec(shown) ?? [];
    const [, url = ''] = /ready at (\S+)/.exec(shown) ?? [];
    expect((await createHttpClient(url, token).get('/cloud/v1/projects')).status).toBe(200);
    expect(fs.existsSync(path.join(own, 'first-token'))).toBe(false);
    const all = descendants(child.pid ?? 0);
    child.kill();
    // On a busy machine, `script` kills its program before that has finished stopping.
    await until(async () => all.every((pid) => !fs.existsSync(`/proc/${pid}`)));
  });

  it('makes the token on the first start that gets ready, not on one that fails', async () => {
    const other = { TRADEWIND_DATA_DIR: path.join(path.dirname(dataDir), 'other') };
    const blocker = net.createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as net.AddressInfo;
    const failed = runTradewind(['serve'], { ...other, TRADEWIND_PORT: String(port) });
    blocker.close();
    expect(failed.stderr).toContain('TRADEWIND_PORT');
    expect(fs.existsSync(other.TRADEWIND_DATA_DIR)).toBe(false);
    const next = await serve(other);
    expect(next.stdout()).toContain('The API token is in ');
    await next.end();
  });

  it.each([
    ['SIGTERM', 'npm start --silent'],
    ['SIGTERM', 'npx tradewind serve'],
    ['SIGKILL', 'npx tradewind serve'],
  ] as const)('ends when %s has ended the "%s" that started it', async (signal, command) => {
    const [program = '', ...args] = command.split(' ');
    const npm = spawn(program, args, { cwd: ROOT, env: environment(settings), stdio: 'pipe' });
    let printed = '';
    npm.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    await until(async () => printed.includes('Tradewind is ready'));
    const all = descendants(npm.pid ?? 0);
    expect(all.length).toBeGreaterThan(3);
    npm.kill(signal);
    await until(async () => all.every((pid) => !fs.existsSync(`/proc/${pid}`)));
  });

  describe('one that runs', () => {
    let first: ServeProcess;
    beforeAll(async () => {
      first = await serve(settings);
    });

    it('outlives the terminal that it was started from, with nohup', async () => {
      expect(first.child.kill('SIGHUP')).toBe(true);
      expect((await createHttpClient(first.url, undefined).get('/healthz')).status).toBe(200);
    });

    it('lets no second Tradewind use its data folder, which stops and says why', () => {
      const second = runTradewind(['serve'], settings);
      expect(second.status).not.toBe(0);
      expect(second.stderr).toContain(dataDir);
      expect(second.stderr).toContain(String(first.child.pid));
    });

    it('shows the data folder in the command line or environment of every process, and ends them all', async () => {
      const tree = descendants(first.child.pid ?? 0);
      // That of a connection may end meanwhile.
      const shown = tree.flatMap((pid) => traces(pid) ?? []);
      expect(shown.length).toBeGreaterThan(3);
      for (const text of shown) expect(text).toContain(dataDir);
      expect(await first.end()).toBe(0);
      for (const pid of tree) expect(fs.existsSync(`/proc/${pid}`), `process ${pid}`).toBe(false);
    });
  });
});

describe('settings', () => {
  it.each([
    ['TRADEWIND_PORT', '99999'],
    ['TRADEWIND_PORT', 'http'],
    ['TRADEWIND_BOOTSTRAP_TOKEN', 'no-separator'],
    ['DATABASE_URL', 'mysql://localhost/x'],
  ])('%s=%s stops the start with 78 and one line that names it', (name, value) => {
    const { status, stderr } = runTradewind(['serve'], { [name]: value });
    expect(status).toBe(78);
    expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(name)]);
  });

  it('doctor says what is there, and warns of root and of nobody else', () => {
    const { status, stdout } = runTradewind(['doctor'], {});
    const warned = /^limited +User: root: .*as its own user/m.test(stdout);
    expect([status, warned]).toEqual([0, process.getuid?.() === 0]);
    expect(stdout).toContain('PostgreSQL');
  });

  it('a sandbox that is required and missing stops the start, and doctor says so', () => {
    const folder = temporaryFolder();
    fs.symlinkSync(process.execPath, path.join(folder, 'node'));
    const required = {
      PATH: folder,
      TRADEWIND_AI_SANDBOX: 'required',
      TRADEWIND_AI_CONCURRENCY: '1',
      TRADEWIND_DATA_DIR: path.join(folder, 'data'),
    };
    const { status, stderr } = runTradewind(['serve'], required);
    expect([status, stderr]).toEqual([78, expect.stringMatching(/^TRADEWIND_AI_SANDBOX .*bubblewrap.*\n$/)]);
    const doctor = runTradewind(['doctor'], required);
    expect([doctor.status, doctor.stdout]).toEqual([1, expect.stringMatching(/^MISSING +Sandbox/m)]);
    fs.rmSync(folder, { recursive: true });
  });
});

describe('killed in the middle of a cluster update', () => {
  const dataDir = path.join(temporaryFolder(), 'data');
  // Slow enough for the kill to come during the change.
  const settings = {
    TRADEWIND_DATA_DIR: dataDir,
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_SIMULATION_SPEED: '0.2',
  };
  afterAll(() => fs.rmSync(path.dirname(dataDir), { recursive: true, force: true }));

  it('the task ends FINISHED after a restart, and the change had its effect once', async () => {
    const quick = await serve({ ...settings, TRADEWIND_SIMULATION_SPEED: '50' });
    const before = createHttpClient(quick.url, TOKEN);
    await before.post('/cloud/v1/ssh_keys/1', { name: 'key' });
    const creation = await before.post('/cloud/v1/k8s/clusters/1/1', cluster('killed'));
    expect(creation.status, creation.text).toBe(200);
    await before.task(creation.body[0]);
    expect(await quick.end()).toBe(0);

    const first = await serve(settings);
    const accepted = await createHttpClient(first.url, TOKEN).patch('/cloud/v1/k8s/clusters/1/1/killed', {
      autoscaler_config: { 'scan-interval': '20s' },
      logging: { enabled: true, destination_region_id: 1, topic_name: 'killed' },
      authentication: { oidc: { issuer_url: 'https://accounts.example.com', client_id: 'c' } },
    });
    expect(accepted.status, accepted.text).toBe(200);
    await until(async () => (await effects(dataDir)).at(-1) === 'changing');
    expect(await first.end('SIGKILL')).toBe('SIGKILL');

    const second = await serve({ ...settings, TRADEWIND_SIMULATION_SPEED: '20' });
    const http = createHttpClient(second.url, TOKEN);
    const task = await http.task(accepted.body[0]);
    expect(task).toMatchObject({ state: 'FINISHED', error: null });
    const after = await http.get('/cloud/v1/k8s/clusters/1/1/killed');
    expect(after.body).toMatchObject({
      task_id: null,
      autoscaler_config: { 'scan-interval': '20s' },
      logging: { enabled: true, topic_name: 'killed' },
      authentication: { oidc: { client_id: 'c' } },
    });
    expect(await effects(dataDir)).toEqual(['making', 'changing']);
    await second.end();
  });
});

const cluster = (name: string) => ({
  name,
  version: 'v1.33.7',
  keypair: 'key',
  pools: [
    {
      name: 'workers',
      flavor_id: 'g1-standard-2-4',
      min_node_count: 1,
      boot_volume_size: 50,
      boot_volume_type: 'standard',
      servergroup_policy: 'soft-anti-affinity',
    },
  ],
});

/**
 * Returns what the simulated infrastructure did with its only cluster: as many entries as its revision says,
 * of which the last is known.
 */
async function effects(dataDir: string): Promise<string[]> {
  const client = new pg.Client({
    host: fs.realpathSync(path.join(dataDir, 'run')),
    user: 'tradewind',
    database: 'tradewind',
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ doing: string; revision: number }>(
      `select doing, revision::int from simulated_objects where kind = 'cluster'`,
    );
    return rows.flatMap(({ doing, revision }) => [...Array(revision - 1).fill('making'), doing]);
  } finally {
    await client.end();
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let left = 3_000; left > 0; left--) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('It did not come to that within a minute');
}

function descendants(pid: number): number[] {
  const children = fs
    .readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((candidate) => parentOf(candidate) === pid);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** Returns undefined for a process that has ended. */
function traces(pid: number): string | undefined {
  try {
    return ['cmdline', 'environ']
      .map((file) => fs.readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' '))
      .join(' ');
  } catch (error) {
    // Its folder stays until its parent has noticed.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
