// Makes the npm package in the given folder: built, and with only those dependencies that the bundle doesn't contain.
// "npm pack" alone would have all dependencies installed again, in versions that no lock file names.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeBuiltManifest } from './not-bundled.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Returns the name of the file in `folder`. */
export function pack(folder) {
  const staging = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-pack-'));
  try {
    run('node', ['scripts/prepare.mjs'], ROOT);
    const everything = packed(ROOT, staging);
    run('tar', ['-xzf', everything], staging);
    writeBuiltManifest(path.join(staging, 'package/package.json'));
    return packed(path.join(staging, 'package'), path.resolve(folder));
  } finally {
    fs.rmSync(staging, { recursive: true });
  }
}

/** Packs a folder as it is. Returns the name of the file. */
export function packed(from, to) {
  return run('npm', ['pack', '--ignore-scripts', '--pack-destination', to, '--loglevel=error'], from).trim();
}

export function run(program, words, cwd) {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status === 0) return stdout;
  throw new Error(`${program} ${words.join(' ')} failed:\n${stdout}${stderr}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(pack(process.argv[2] ?? '.'));
