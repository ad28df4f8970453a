import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';

const FIXTURE = fileURLToPath(new URL('fixtures/launched.mjs', import.meta.url));
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-launcher-'));
const pidFile = path.join(home, 'pid');
const goneFile = `${pidFile}.gone`;
const program = [process.execPath, '--import', import.meta.resolve('tsx'), FIXTURE, pidFile];
const command = program.join(' ');
/** Returns the command of a program that is not a shell and starts another one with those words. */
const starter = (words: string[], options = {}) => [
  process.execPath,
  '-e',
  `require('child_process').spawn(${JSON.stringify(words[0])}, ${JSON.stringify(words.slice(1))}, ${JSON.stringify({ stdio: 'ignore', ...options })}); setInterval(() => {}, 1000)`,
];

afterEach(() => {
  fs.rmSync(goneFile, { force: true });
  if (fs.existsSync(pidFile)) {
    if (isRunning()) process.kill(pid(), 'SIGKILL');
    fs.rmSync(pidFile);
  }
});

describe.runIf(process.platform === 'linux')('what a server was started by', { timeout: 90_000 }, () => {
  it.each([
    ['a script', ['sh', '-c', `${command}; echo done`]],
    ['a script in a script', ['sh', '-c', `sh -c '${command}; echo done'; echo done`]],
    ['a program', starter(program)],
    ['a shell of a program, like that of npm', starter(['sh', '-c', `${command}; echo done`])],
  ])('ends it when it is %s and killed', async (_name, words) => {
    const launcher = start(words);
    await vi.waitFor(pid, { timeout: 60_000, interval: 100 });
    launcher.kill('SIGKILL');
    await vi.waitFor(() => expect(isRunning()).toBe(false), { timeout: 10_000, interval: 50 });
  });

  it.each([
    ['ends it when npm has gone before it looks', 'tradewind serve', false],
    ["leaves it alone when npm's script leaves it behind", 'tradewind serve & sleep 1', true],
    ["leaves it alone when npm's script is another program", 'a-program-with-tests', true],
  ])('%s', async (_name, script, stays) => {
    const words = ['sh', '-c', `while kill -0 $PPID; do sleep 0.1; done; ${command}; echo done`];
    // The starter ends before its shell starts the program.
    const starting = start(starter(words, { env: { ...process.env, npm_lifecycle_script: script } }));
    await vi.waitFor(() => expect(childrenOf(starting)).not.toBe(''), { timeout: 60_000, interval: 50 });
    starting.kill('SIGKILL');
    if (stays) {
      await vi.waitFor(pid, { timeout: 60_000, interval: 100 });
      expect([isRunning(), fs.existsSync(goneFile)]).toEqual([true, false]);
    } else {
      await vi.waitFor(() => fs.statSync(goneFile), { timeout: 60_000, interval: 100 });
      expect(fs.existsSync(pidFile)).toBe(false);
    }
  });

  const later = 'while ! test -s "$0"; do sleep 0.1; done';
  it.each([
    ['a job of a script', ['sh', '-c', `${command} & ${later}`, pidFile]],
    ['a job with nohup', ['sh', '-c', `nohup ${command} > /dev/null 2>&1 & ${later}`, pidFile]],
    ['a session of its own', ['sh', '-c', `setsid ${command}; echo done`]],
    ['a group of its own', starter(program, { detached: true })],
  ])('leaves %s alone', async (_name, words) => {
    const launcher = start(words);
    await vi.waitFor(pid, { timeout: 60_000, interval: 100 });
    launcher.kill('SIGKILL');
    await sleep(1_000);
    expect(isRunning()).toBe(true);
  });

  it('leaves a job of a shell alone that reads what to do next', async () => {
    const shell = start(['sh'], 'pipe');
    shell.stdin?.write(`${command} &\n`);
    await vi.waitFor(pid, { timeout: 60_000, interval: 100 });
    shell.stdin?.end();
    await once(shell, 'exit');
    await sleep(1_000);
    expect(isRunning()).toBe(true);
  });
});

function start([program = '', ...words]: string[], stdin: 'pipe' | 'ignore' = 'ignore'): ChildProcess {
  return spawn(program, words, { stdio: [stdin, 'ignore', 'inherit'], detached: true });
}

function childrenOf({ pid }: ChildProcess): string {
  return fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
}

function pid(): number {
  return Number(fs.readFileSync(pidFile, 'utf8'));
}

function isRunning(): boolean {
  // A zombie, whose parent hasn't asked for its exit code, counts as ended.
  const stat = fs.existsSync(`/proc/${pid()}/stat`) ? fs.readFileSync(`/proc/${pid()}/stat`, 'utf8') : ') Z';
  return !/\) [ZX]/.test(stat);
}
