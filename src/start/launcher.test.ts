import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { SOON } from '../../test/support/http-client.ts';

const FIXTURE = fileURLToPath(new URL('fixtures/launched.mjs', import.meta.url));
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-launcher-'));
const pidFiles: string[] = [];
const program = (file: string) => [process.execPath, '--import', import.meta.resolve('tsx'), FIXTURE, file];
const command = (file: string) => program(file).join(' ');
/** Returns the words that start the program, which writes its process id into the file. */
type Words = (file: string) => string[];
/** Returns the command of a program that is not a shell and starts another one with those words. */
const starter = (words: string[], options = {}) => [
  process.execPath,
  '-e',
  `require('child_process').spawn(${JSON.stringify(words[0])}, ${JSON.stringify(words.slice(1))}, ${JSON.stringify({ stdio: 'ignore', ...options })}); setInterval(() => {}, 1000)`,
];

afterAll(() => {
  for (const file of pidFiles.filter((name) => fs.existsSync(name)))
    if (isRunning(file)) process.kill(pid(file), 'SIGKILL');
  fs.rmSync(home, { recursive: true });
});

function newPidFile(): string {
  const file = path.join(home, String(pidFiles.length));
  pidFiles.push(file);
  return file;
}

// Each test waits for most of its time.
const options = { timeout: 90_000, concurrent: true };
describe.runIf(process.platform === 'linux')('what a server was started by', options, () => {
  it.each<[string, Words]>([
    ['a script', (file) => ['sh', '-c', `${command(file)}; echo done`]],
    ['a script in a script', (file) => ['sh', '-c', `sh -c '${command(file)}; echo done'; echo done`]],
    ['a program', (file) => starter(program(file))],
    ['a shell of a program, like that of npm', (file) => starter(['sh', '-c', `${command(file)}; echo done`])],
  ])('ends it when it is %s and killed', async (_name, words) => {
    const file = newPidFile();
    const launcher = start(words(file));
    await vi.waitFor(() => pid(file), SOON);
    launcher.kill('SIGKILL');
    await vi.waitFor(() => expect(isRunning(file)).toBe(false), SOON);
  });

  it.each([
    ['ends it when npm has gone before it looks', 'tradewind serve', false],
    ["leaves it alone when npm's script leaves it behind", 'tradewind serve & sleep 1', true],
    ["leaves it alone when npm's script is another program", 'a-program-with-tests', true],
  ])('%s', async (_name, script, stays) => {
    const file = newPidFile();
    const goneFile = `${file}.gone`;
    const begun = `${file}.begun`;
    // The shell knows its parent from when it begins.
    const words = ['sh', '-c', `: > ${begun}; while kill -0 $PPID; do sleep 0.1; done; ${command(file)}; echo done`];
    // The starter ends before its shell starts the program.
    const starting = start(starter(words, { env: { ...process.env, npm_lifecycle_script: script } }));
    await vi.waitFor(() => fs.statSync(begun), SOON);
    starting.kill('SIGKILL');
    if (stays) {
      await vi.waitFor(() => pid(file), SOON);
      expect([isRunning(file), fs.existsSync(goneFile)]).toEqual([true, false]);
    } else {
      await vi.waitFor(() => fs.statSync(goneFile), SOON);
      expect(fs.existsSync(file)).toBe(false);
    }
  });

  const later = 'while ! test -s "$0"; do sleep 0.1; done';
  it.each<[string, Words]>([
    ['a job of a script', (file) => ['sh', '-c', `${command(file)} & ${later}`, file]],
    ['a job with nohup', (file) => ['sh', '-c', `nohup ${command(file)} > /dev/null 2>&1 & ${later}`, file]],
    ['a session of its own', (file) => ['sh', '-c', `setsid ${command(file)}; echo done`]],
    ['a group of its own', (file) => starter(program(file), { detached: true })],
  ])('leaves %s alone', async (_name, words) => {
    const file = newPidFile();
    const launcher = start(words(file));
    await vi.waitFor(() => pid(file), SOON);
    launcher.kill('SIGKILL');
    await sleep(1_000);
    expect(isRunning(file)).toBe(true);
  });

  it('leaves a job of a shell alone that reads what to do next', async () => {
    const file = newPidFile();
    const shell = start(['sh'], 'pipe');
    shell.stdin?.write(`${command(file)} &\n`);
    await vi.waitFor(() => pid(file), SOON);
    shell.stdin?.end();
    await once(shell, 'exit');
    await sleep(1_000);
    expect(isRunning(file)).toBe(true);
  });
});

function start([program = '', ...words]: string[], stdin: 'pipe' | 'ignore' = 'ignore'): ChildProcess {
  return spawn(program, words, { stdio: [stdin, 'ignore', 'inherit'], detached: true });
}

function pid(file: string): number {
  return Number(fs.readFileSync(file, 'utf8'));
}

function isRunning(file: string): boolean {
  // A zombie, whose parent hasn't asked for its exit code, counts as ended.
  const stat = fs.existsSync(`/proc/${pid(file)}/stat`) ? fs.readFileSync(`/proc/${pid(file)}/stat`, 'utf8') : ') Z';
  return !/\) [ZX]/.test(stat);
}
