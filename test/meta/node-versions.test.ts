import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';

// In strict mode, npm refuses what it otherwise only warns of. It checks against the Node that runs: in CI,
// the oldest one.
it('installs nothing that this Node is too old for', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-install-'));
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) fs.copyFileSync(file, path.join(folder, file));
  const { status, stderr } = spawnSync('npm', ['ci', '--dry-run', '--engine-strict', '--offline', '--ignore-scripts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  fs.rmSync(folder, { recursive: true });
  expect(stderr).not.toContain('EBADENGINE');
  expect(status).toBe(0);
});
