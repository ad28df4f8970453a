import { spawnSync } from 'node:child_process';
import { beforeAll, expect, it } from 'vitest';
import { build, ROOT } from '../acceptance/processes.ts';

beforeAll(build, 120_000);

it('comes with compiled code that this Node accepts', () => {
  const script = `
    const source = require('fs').readFileSync('dist/src/bundle.js', 'latin1');
    const cachedData = require('fs').readFileSync('dist/src/bundle.js.cache');
    process.stdout.write(String(new (require('vm').Script)(source, { cachedData }).cachedDataRejected));`;
  const { stdout, stderr } = spawnSync('node', ['-e', script], { cwd: ROOT, encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: 'false', stderr: '' });
});

it('runs where V8 takes no compiled code, as with other flags', () => {
  const { stdout, status } = spawnSync('node', ['--no-opt', 'dist/src/main.js', 'version'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/^tradewind \d/);
  expect(status).toBe(0);
});
