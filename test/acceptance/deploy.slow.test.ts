import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { program } from '../../scripts/test-programs.ts';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient } from '../support/http-client.ts';
import { removeInstallations } from '../support/npx.ts';
import { reservePort } from '../support/ports.ts';
import { build, environment, ROOT, type ServeProcess, serve, temporaryFolder } from './processes.ts';

const TOKEN = '7_acceptance-secret';
const folder = temporaryFolder();
const caddy = program('caddy');
if (caddy === undefined) process.stderr.write('SKIPPED, for want of caddy: "npm run install:tests" installs it\n');

beforeAll(build);
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

describe('the start for test jobs', () => {
  let output: Record<string, string> = {};
  afterEach(async () => {
    if (output.SERVER_PID === undefined) return;
    process.kill(Number(output.SERVER_PID));
    await until(async () => !(await isUp(output.GCORE_BASE_URL)));
    fs.rmSync(path.dirname(output.SERVER_LOG ?? folder), { recursive: true });
    output = {};
  });

  afterAll(() => removeInstallations(folder));

  it('prints what the SDK and the test kits read, and an account can be made for each suite', async () => {
    fs.mkdirSync(folder, { recursive: true });
    const packed = spawnSync('node', ['scripts/pack.mjs', folder], { cwd: ROOT, encoding: 'utf8' });
    const env = { ...environment({ TRADEWIND_PORT: '0' }), TMPDIR: folder };
    const started = spawnSync(path.join(ROOT, 'deploy/ci/start.sh'), [path.join(folder, packed.stdout.trim())], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    expect(started.status, started.stderr).toBe(0);
    output = Object.fromEntries(
      started.stdout
        .trim()
        .split('\n')
        .map((line) => line.split('=')),
    );
    const [account = ''] = /^H=[^`]*/m.exec(fs.readFileSync(path.join(ROOT, 'docs/testers.md'), 'utf8')) ?? [];
    const made = spawnSync('sh', ['-euc', `${account}\necho $CLIENT $PROJECT $TOKEN`], {
      env: { ...env, ...output },
      encoding: 'utf8',
    });
    expect([made.status, made.stdout], made.stderr).toEqual([0, expect.stringMatching(/^[2-9] [2-9] \d+_\w{64}\n$/)]);
    const { TRADEWIND_URL = '', TRADEWIND_TOKEN = '' } = output;
    const reset = { scope: 'all' };
    const http = createHttpClient(TRADEWIND_URL, TRADEWIND_TOKEN);
    expect(await http.post('/tradewind/v1/test/reset', reset)).toMatchObject({ status: 204 });
  });
});

describe.runIf(caddy)('two APIs and two workers behind the proxy', () => {
  let database: TestDatabase;
  let servers: ServeProcess[] = [];
  let proxy: ChildProcess;
  let site = '';

  beforeAll(async () => {
    database = await createDatabase({ empty: true });
    const settings = {
      DATABASE_URL: database.url,
      TRADEWIND_DATA_DIR: path.join(folder, 'data'),
      TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
      TRADEWIND_SIMULATION_SPEED: '1',
      TRADEWIND_TRUST_PROXY: '127.0.0.1',
    };
    const first = await serve(settings, ['--role', 'api']);
    const others = ['api', 'worker', 'worker'].map((role) => serve(settings, ['--role', role]));
    servers = [first, ...(await Promise.all(others))];
    site = `http://127.0.0.1:${await reservePort()}`;
    const upstreams = servers.flatMap(({ url }) => (url === '' ? [] : [url.replace('http://', '')]));
    proxy = spawn(caddy ?? '', ['run', '--config', 'deploy/Caddyfile'], {
      cwd: ROOT,
      env: { ...process.env, HOME: folder, TRADEWIND_SITE: site, TRADEWIND_UPSTREAMS: upstreams.join(' ') },
      stdio: 'ignore',
    });
    await until(() => isUp(site));
  });
  afterAll(async () => {
    const ended = proxy && once(proxy, 'exit');
    proxy?.kill();
    await ended;
    await Promise.all(servers.map((server) => server.end()));
    await database?.drop();
  });

  it('waits for tasks as long as their client, and goes on when an API ends', async () => {
    const http = createHttpClient(site, TOKEN);
    const body = { source: 'new-volume', name: 'behind', size: 10 };
    const [task] = (await http.post('/cloud/v1/volumes/1/1', body)).body;
    const waited = await http.request('GET', `/v1/tasks/${task}`, { headers: { prefer: 'wait=50' } });
    expect(waited.headers.get('preference-applied')).toBe('wait=50');
    expect(waited.body.state).toBe('FINISHED');
    expect(await servers[0]?.end()).toBe(0);
    for (let call = 0; call < 10; call++) expect((await http.get('/cloud/v1/projects')).status).toBe(200);
  });
});

async function isUp(url = ''): Promise<boolean> {
  return fetch(`${new URL(url).origin}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let left = 600; !(await condition()); left--) {
    if (left === 0) throw new Error('It did not come to that within a minute');
    await sleep(100);
  }
}
