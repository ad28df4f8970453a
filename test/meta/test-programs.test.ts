import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-bare-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

/** Each would install something, and only notes that it was called. */
const INSTALLERS = ['apt-get', 'sudo', 'dpkg', 'pip', 'pip3', 'python3', 'npm', 'npx', 'brew'];
/** All that a machine has which has nothing but Node. */
const HAS = ['node', 'sh', 'env', 'flock'];
const scripts = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')).scripts;

it('npm test says what is missing before it begins, and installs nothing', { timeout: 120_000 }, () => {
  const [bin, home, called] = ['bin', 'home', 'called'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [bin, home]) fs.mkdirSync(made);
  for (const name of INSTALLERS)
    fs.writeFileSync(path.join(bin, name), `#!/bin/sh\necho "$0 $*" >> ${called}\nexit 1\n`, { mode: 0o755 });
  for (const name of HAS) {
    const { stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
    if (stdout !== '') fs.symlinkSync(stdout.trim(), path.join(bin, name));
  }
  // Of the checkout, as npm has it.
  fs.symlinkSync(path.join(ROOT, 'node_modules/.bin/tsx'), path.join(bin, 'tsx'));

  // The first step installs npm's packages in the checkout.
  const [prepare, ...steps] = scripts.pretest.split(' && ');
  expect(prepare).toBe(scripts.precheck);
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-ec', steps.join(' && ')], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: bin, HOME: home },
  });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('Nothing was installed.\n"npm run install:tests" installs:\n');
  for (const line of [
    'ffmpeg: AI tasks',
    'postgresql-client: the commands of operators.md',
    'promtool: metrics and alerts',
    'Python clients: the official SDK, schemathesis, the test kit for pytest',
    'Go, from https://go.dev/doc/install: ',
    'OpenStack',
  ]) {
    expect(stdout).toContain(`\n  ${line}`);
  }
  expect(fs.existsSync(called) && fs.readFileSync(called, 'utf8')).toBe(false);
  expect(fs.readdirSync(home)).toEqual([]);
});

it('CI installs what is missing, by the command that npm test names', () => {
  const steps = fs.readFileSync(path.join(ROOT, '.ci/run'), 'utf8');
  expect(steps.indexOf('\nnpm run install:tests')).toBeGreaterThan(-1);
  expect(steps.indexOf('\nnpm run install:tests')).toBeLessThan(steps.indexOf('\nnpm test'));
  expect(scripts['install:tests']).toContain('--install');
});
