import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { program } from '../../scripts/test-programs.ts';
import { record, startWatchedService } from '../support/clients.ts';
import { CLUSTERS, makeCluster, POOL } from '../support/clusters.ts';

/** Common tools read what the server gives them: Prometheus, kubectl, a generated TypeScript client. */
const ROOT = path.resolve(import.meta.dirname, '../..');
const EXAMPLE = path.join(ROOT, 'examples/typescript');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-tools-'));

let service: Awaited<ReturnType<typeof startWatchedService>>;
beforeAll(async () => {
  service = await startWatchedService();
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

function found(name: Parameters<typeof program>[0]): string {
  const file = program(name);
  if (file === undefined) process.stderr.write(`SKIPPED, for want of ${name}: "npm run install:tests" installs it\n`);
  return file ?? '';
}
const promtool = found('promtool');
const kubectl = found('kubectl');
const versionIn = (text: string) => /\d+\.\d+\.\d+/.exec(text)?.[0] ?? expect.fail(`No version in ${text}`);

it.runIf(promtool)('promtool finds no fault in the metrics', async () => {
  const { text } = await service.anonymous.get('/metrics');
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  });
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
  const version = spawnSync(promtool, ['--version'], { encoding: 'utf8' });
  record('promtool', {
    client: 'promtool of Prometheus',
    seen: versionIn(version.stdout + version.stderr),
    passed: '`check metrics` finds no fault in `/metrics`',
  });
});

it.runIf(promtool)('promtool finds no fault in the alerts, which fire as they should', () => {
  const { status, stdout, stderr } = spawnSync(
    promtool,
    ['test', 'rules', path.join(ROOT, 'test/clients/alerts.yaml')],
    { encoding: 'utf8' },
  );
  expect(status, stdout + stderr).toBe(0);
});

it('alerts and the dashboard ask for what /metrics has', async () => {
  const { text } = await service.anonymous.get('/metrics');
  const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  for (const file of ['deploy/prometheus/alerts.yaml', 'deploy/grafana/tradewind.json']) {
    const asked = fs.readFileSync(path.join(ROOT, file), 'utf8').match(/\b(tradewind|process)_[a-z_]+(?=[{[) ])/g);
    const names = new Set(asked?.map((name) => name.replace(/_(bucket|count)$/, '')));
    expect(names.size).toBeGreaterThan(5);
    expect([...names].filter((name) => !known.has(name))).toEqual([]);
  }
});

it.runIf(kubectl)('kubectl reads the kubeconfig of a cluster', async () => {
  const { http } = service;
  expect((await http.post('/cloud/v1/ssh_keys/1', { name: 'tools' })).status).toBe(201);
  await makeCluster(http, { name: 'tools', version: 'v1.32.13', keypair: 'tools', pools: [POOL] });
  const { body } = await http.get(`${CLUSTERS}/tools/config`);
  const file = path.join(folder, 'kubeconfig');
  fs.writeFileSync(file, body.config, { mode: 0o600 });
  const args = ['--kubeconfig', file, 'config', 'view', '--raw', '--minify', '--output', 'json'];
  const env = { ...process.env, HOME: folder };
  const { stdout, stderr } = spawnSync(kubectl, args, { encoding: 'utf8', env });
  expect(stderr).toBe('');
  const read = JSON.parse(stdout);
  expect(read.clusters[0].cluster).toMatchObject({
    server: body.host,
    'certificate-authority-data': expect.any(String),
  });
  expect(read.users[0].user).toMatchObject({ 'client-key-data': expect.any(String) });
  record('kubectl', {
    client: 'kubectl',
    seen: versionIn(spawnSync(kubectl, ['version', '--client'], { encoding: 'utf8', env }).stdout),
    passed: '`config view` reads the kubeconfig of a cluster; no cluster answers behind it',
  });
});

it('the example with types from the OpenAPI document compiles and runs', async () => {
  const env = { ...process.env, TRADEWIND_URL: service.url, TRADEWIND_TOKEN: service.http.token };
  // The server runs in this process, so the child must not be waited for synchronously.
  const npm = (...args: string[]) => promisify(execFile)('npm', args, { cwd: EXAMPLE, env });
  await npm('ci');
  service.takeOperations();
  const { stdout } = await npm('start', '--silent');
  expect(stdout).toMatch(/^network \S{36}\ngroup \S{36} with \d rules\nprice [\d.]+ EUR an hour\n$/);
  const { dependencies, devDependencies } = JSON.parse(fs.readFileSync(path.join(EXAMPLE, 'package.json'), 'utf8'));
  record('typescript', {
    client: 'openapi-fetch with types by openapi-typescript',
    pinned: `${dependencies['openapi-fetch']}, ${devDependencies['openapi-typescript']}`,
    passed: '[the example](../../examples/typescript) compiles and runs',
    operations: service.takeOperations(),
  });
});
