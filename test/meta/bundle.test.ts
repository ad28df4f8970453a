import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build, ROOT } from '../acceptance/processes.ts';

const read = (file: string) => fs.readFileSync(path.join(ROOT, file), 'utf8');

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

it('names the lines of sources in stack traces', () => {
  const preload = `data:text/javascript,${encodeURIComponent(
    `process.stdout.write = () => { process.stderr.write(new Error('where').stack); return true; };`,
  )}`;
  const { stderr } = spawnSync('node', ['--import', preload, 'dist/src/main.js', 'version'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const places = [...stderr.matchAll(/\b(src\/[\w/-]+\.ts):(\d+)/g)];
  const lines = places.map(([, file = '', line]) => read(file).split('\n')[Number(line) - 1]);
  expect(lines[0], stderr).toContain('stdout.write(');
  expect(stderr).toMatch(/^Error: where\n/);
});

it('leaves the libraries of the command line out of the server', () => {
  expect(read('dist/cli/main.cjs')).toContain('CommanderError');
  expect(read('dist/src/bundle.js')).not.toContain('CommanderError');
  const asked = spawnSync('node', ['dist/src/main.js', 'help'], { cwd: ROOT, encoding: 'utf8' });
  expect(asked).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('tradewind <command> [options]'),
  });
});

it('completes words in shells', () => {
  const run = (...words: string[]) =>
    spawnSync('node', ['dist/src/main.js', ...words], { cwd: ROOT, encoding: 'utf8' }).stdout;
  expect(run('complete', '--', 'webhook', 'ro')).toMatch(/^rotate-secret\tRotate the secret of a webhook\n/);
  expect(run('complete', '--', 'client', 'pa')).toMatch(/^pause\t/);
  expect(run('complete', '--', 'task', 'list', '--state', 'F')).toMatch(/^FINISHED\t/);
  for (const shell of ['bash', 'zsh', 'fish'])
    expect(run('completion', shell), shell).toContain('tradewind complete --');
  const { status, stderr } = spawnSync('bash', ['-n'], {
    input: run('completion', 'bash'),
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
});

/** What a person types into each shell, and what the shell answers to the tabulator. */
const SHELLS: [string, string[]][] = [
  ['fish', ['--no-config', '-c', "tradewind completion fish | source; complete -C 'tradewind webhook rot'"]],
  [
    'zsh',
    [
      '-f',
      '-c',
      // Completion is there only at a terminal. The words that are waited for aren't in what is typed.
      `zmodload zsh/zpty; zpty shell zsh -f -i
      zpty -w shell 'autoload -U compinit; compinit -u -D; source <(tradewind completion zsh); echo rea""dy'
      zpty -r -m shell said '*ready*'
      zpty -w -n shell $'tradewind webhook rot\t'
      zpty -r -m shell said '*rotate-secret*'
      print -r -- $said; zpty -d shell`,
    ],
  ],
];
it.for(SHELLS)('completes words in %s itself', { timeout: 90_000 }, ([shell, words], { skip }) => {
  if (spawnSync(shell, ['--version']).error) skip(`${shell} is not installed here`);
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-shell-'));
  try {
    const program = `#!/bin/sh\nexec "${process.execPath}" "${path.join(ROOT, 'dist/src/main.js')}" "$@"\n`;
    fs.writeFileSync(path.join(home, 'tradewind'), program, { mode: 0o755 });
    const env = { ...process.env, HOME: home, ZDOTDIR: home, PATH: `${home}:${process.env.PATH}` };
    const { stdout, stderr } = spawnSync(shell, words, { cwd: home, env, encoding: 'utf8', timeout: 60_000 });
    expect(stdout, stderr).toContain('rotate-secret');
  } finally {
    fs.rmSync(home, { recursive: true });
  }
});
