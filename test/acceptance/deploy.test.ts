import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { program } from '../../scripts/test-programs.ts';
import { loadConfig, unknownSettings } from '../../src/config.ts';
import { version } from '../../src/lib/own-program.ts';
import { readCommandLine } from '../../src/start/command-line.ts';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient } from '../support/http-client.ts';
import { removeInstallations } from '../support/npx.ts';
import { reservePort } from '../support/ports.ts';
import { build, environment, ROOT, type ServeProcess, serve, temporaryFolder } from './processes.ts';

const TOKEN = '7_acceptance-secret';
const folder = temporaryFolder();
const caddy = program('caddy');
if (caddy === undefined)
  process.stderr.write('SKIPPED, for want of caddy: "npm run install:tests" installs it\n');
const isThere = (program: string) => spawnSync('which', [program]).status === 0;
const read = (name: string) => fs.readFileSync(path.join(ROOT, name), 'utf8');

beforeAll(build);
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

describe('compose files and Dockerfile', () => {
  interface Service {
    image: string;
    command?: string[];
    build?: string;
    environment?: Record<string, string>;
  }
  const ours = ['compose.yaml', 'compose.ci.yaml'].flatMap((file) => {
    const { services } = parse(read(file), { merge: true }) as { services: Record<string, Service> };
    return Object.entries(services)
      .filter(([, { build: built }]) => built !== undefined)
      .map(([name, service]) => ({ name: `${file}, ${name}`, ...service }));
  });

  it('have two APIs, two workers and a migration, and a server for tests', () => {
    const commands = ours.map(({ command = ['serve'] }) => command.join(' '));
    expect(commands.toSorted()).toEqual([
      'migrate',
      'serve',
      ...Array(2).fill('serve --role api'),
      ...Array(2).fill('serve --role worker'),
    ]);
  });

  it.each(ours)('$name is of this release, with a command and settings that exist', (service) => {
    expect(service.image).toBe(`tradewind:${version}`);
    expect(readCommandLine(service.command ?? ['serve'], {})).toHaveProperty('command');
    const settings = withExamples(service.environment ?? {});
    expect(unknownSettings(settings)).toEqual([]);
    expect(() => loadConfig(settings)).not.toThrow();
  });

  it('the image has settings that exist', () => {
    const [, line = ''] = /^ENV (.*)$/m.exec(read('Dockerfile')) ?? [];
    const settings = Object.fromEntries(line.split(' ').map((word) => word.split('=')));
    expect(unknownSettings(settings)).toEqual([]);
    expect(loadConfig(settings)).toMatchObject({ host: '0.0.0.0', port: 8080, workerPort: 8080 });
  });
});

describe.runIf(isThere('systemd-analyze'))('the units of systemd', () => {
  const units = fs.readdirSync(path.join(ROOT, 'deploy/systemd')).filter((name) => name.endsWith('.service'));

  it.each(units)('%s is valid, and has little to attack', (unit) => {
    const analyze = (...words: string[]) =>
      spawnSync('systemd-analyze', words, { cwd: path.join(ROOT, 'deploy/systemd'), encoding: 'utf8' });
    // Node may be elsewhere here.
    const faults = analyze('verify', `./${unit}`)
      .stderr.split('\n')
      .filter((line) => line.startsWith(`./${unit}`) || line.startsWith('/') || /common\.conf/.test(line));
    expect(faults.filter((line) => !line.includes('/usr/bin/node'))).toEqual([]);
    const { status, stdout } = analyze('security', '--offline=true', '--threshold=26', `./${unit}`);
    expect(status, stdout).toBe(0);
  });

  it('have settings that exist', () => {
    const text = [...units, 'tradewind-.service.d/common.conf'].map((name) => read(`deploy/systemd/${name}`));
    const names = text.join('\n').match(/TRADEWIND_\w+/g) ?? [];
    expect(unknownSettings(Object.fromEntries(names.map((name) => [name, ''])))).toEqual([]);
  });
});

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
    const started = spawnSync(
      path.join(ROOT, 'deploy/ci/start.sh'),
      [path.join(folder, packed.stdout.trim())],
      {
        cwd: folder,
        env,
        encoding: 'utf8',
      },
    );
    expect(started.status, started.stderr).toBe(0);
    output = Object.fromEntries(
      started.stdout
        .trim()
        .split('\n')
        .map((line) => line.split('=')),
    );
    const [account = ''] = /^H=[^`]*/m.exec(read('docs/testers.md')) ?? [];
    const made = spawnSync('sh', ['-euc', `${account}\necho $CLIENT $PROJECT $TOKEN`], {
      env: { ...env, ...output },
      encoding: 'utf8',
    });
    expect([made.status, made.stdout], made.stderr).toEqual([
      0,
      expect.stringMatching(/^[2-9] [2-9] \d+_\w{64}\n$/),
    ]);
    const { TRADEWIND_URL = '', TRADEWIND_TOKEN = '' } = output;
    const reset = { scope: 'all' };
    const http = createHttpClient(TRADEWIND_URL, TRADEWIND_TOKEN);
    expect(await http.post('/tradewind/v1/test/reset', reset)).toMatchObject({ status: 204 });
  }, 300_000);

  it.each(['deploy/ci/action.yml', 'deploy/ci/gitlab.yml'])('%s runs it', (file) => {
    expect(parse(read(file))).toBeInstanceOf(Object);
    expect(read(file)).toContain('start.sh');
    const names = read(file).match(/TRADEWIND_\w+/g) ?? [];
    expect(unknownSettings(Object.fromEntries(names.map((name) => [name, ''])))).toEqual([]);
  });
});

describe.runIf(caddy)('two APIs and two workers behind the proxy', { timeout: 120_000 }, () => {
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
  }, 120_000);
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

/** Values for what compose takes from `.env`. */
function withExamples(settings: Record<string, string>): Record<string, string> {
  const examples: Record<string, string> = {
    POSTGRES_PASSWORD: 'secret',
    TRADEWIND_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
  };
  const filled = (value: string) =>
    value.replace(
      /\$\{(\w+):[?-]([^}]*)\}/g,
      (_all, name: string, value: string) => value || (examples[name] ?? ''),
    );
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, filled(value)]));
}

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
