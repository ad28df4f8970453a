import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { attempt } from '../../../src/lib/errors.ts';
import { SOON } from '../../../test/support/http-client.ts';
import { missingOf } from '../programs/installed.ts';
import { isAlive, MARK, processesOfCluster } from './alive.ts';
import { type Process, readStatus, writeOrders } from './files.ts';
import { ensureSupervisor, runningSupervisor } from './start.ts';

const PATH = process.env.PATH ?? '';

let clusters: string;
beforeEach(() => {
  clusters = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'supervisor-')));
});
afterEach(async () => {
  // A supervisor without clusters ends.
  for (const name of fs.readdirSync(clusters)) fs.rmSync(path.join(clusters, name), { recursive: true, force: true });
  while (runningSupervisor(clusters)) await sleep(50);
  fs.rmSync(clusters, { recursive: true, force: true });
});

/** A server on a socket in the cluster's folder, which answers 200 after a while. */
function server(
  name: string,
  { afterMs = 0, env = {} }: { afterMs?: number; env?: Record<string, string> } = {},
): Process {
  const script = `const born = Date.now(); const { createServer } = require('node:http');
    require('node:fs').appendFileSync('starts', '${name}\\n');
    createServer((_, answer) => answer.writeHead(Date.now() - born < ${afterMs} ? 503 : 200).end()).listen('${name}.sock');
    process.on('SIGTERM', () => { require('node:fs').rmSync('${name}.sock'); process.exit(0); });`;
  const ready = { socket: `${name}.sock`, path: '/' };
  return { name, program: process.execPath, args: ['-e', script], env, ready };
}

const plain = (name: string, script: string): Process => ({
  name,
  program: '/bin/sh',
  args: ['-c', script],
  env: {},
});

function newCluster(...processes: Process[]): string {
  const folder = path.join(clusters, randomUUID());
  fs.mkdirSync(folder);
  writeOrders(folder, { processes, removing: false });
  ensureSupervisor(clusters, PATH);
  return folder;
}

const statusOf = (folder: string) => readStatus(folder)?.processes ?? {};
const startsIn = (folder: string) => fs.readFileSync(path.join(folder, 'starts'), 'utf8').trim().split('\n');
async function settled(folder: string, ...names: string[]): Promise<Record<string, number | undefined>> {
  return vi.waitFor(() => {
    const status = readStatus(folder);
    expect(Object.keys(status?.processes ?? {}).sort()).toEqual(names.sort());
    expect(status?.settled).toBe(true);
    return Object.fromEntries(Object.entries(status?.processes ?? {}).map(([name, { pid }]) => [name, pid]));
  }, SOON);
}

describe.skipIf(missingOf(PATH))('the supervisor of control planes', () => {
  it('starts processes one after another, each when the one before is ready', async () => {
    const folder = newCluster(server('first', { afterMs: 300 }), server('second'), plain('third', 'exec sleep 1000'));
    await settled(folder, 'first', 'second', 'third');
    expect(startsIn(folder)).toEqual(['first', 'second']);
    expect(processesOfCluster(folder)).toHaveLength(3);
  });

  it('replaces only what is started with something else, and ends what is not wanted any more', async () => {
    const folder = newCluster(server('first'), server('second'), plain('third', 'exec sleep 1000'));
    const before = await settled(folder, 'first', 'second', 'third');
    writeOrders(folder, {
      processes: [server('first'), server('second', { env: { NEW: 'yes' } })],
      removing: false,
    });
    const after = await settled(folder, 'first', 'second');
    expect(after.first).toBe(before.first);
    expect(after.second).not.toBe(before.second);
    expect(startsIn(folder)).toEqual(['first', 'second', 'second']);
    expect(new Set(processesOfCluster(folder))).toEqual(new Set(Object.values(after)));
  });

  it('starts what ends again, ever more seldom, and tells its last words', async () => {
    const folder = newCluster(plain('hasty', 'echo I can not; exit 1'));
    await vi.waitFor(() => expect(statusOf(folder).hasty?.failures).toBeGreaterThan(2), SOON);
    expect(statusOf(folder).hasty).toMatchObject({ ready: false, lastWords: 'I can not' });
    expect(readStatus(folder)?.settled).toBe(false);
    // It is forgotten as soon as something else is wanted.
    writeOrders(folder, { processes: [plain('hasty', 'exec sleep 1000')], removing: false });
    await settled(folder, 'hasty');
    expect(statusOf(folder).hasty).toMatchObject({ ready: true, failures: 0 });
  });

  it('keeps little of what a process writes that ends again and again', async () => {
    const folder = newCluster(plain('talkative', 'head -c 5000000 /dev/zero; exit 1'));
    await vi.waitFor(() => expect(statusOf(folder).talkative?.failures).toBeGreaterThan(1), SOON);
    expect(fs.statSync(path.join(folder, 'talkative.log')).size).toBeLessThan(6_000_000);
    expect(fs.statSync(path.join(folder, 'talkative.log.old')).size).toBeLessThan(6_000_000);
  });

  it('keeps little of its own complaints', async () => {
    const folder = newCluster();
    await settled(folder);
    const log = path.join(clusters, 'supervisor.log');
    fs.appendFileSync(log, Buffer.alloc(5_000_000, 'x'));
    fs.writeFileSync(path.join(folder, 'orders.json'), 'no orders');
    await vi.waitFor(() => expect(fs.readFileSync(log, 'utf8')).toMatch(/^\d{4}-.* SyntaxError/), SOON);
    writeOrders(folder, { processes: [plain('only', 'exec sleep 1000')], removing: false });
    await settled(folder, 'only');
  });

  it('is started once, while it has not said that it runs', async () => {
    const folder = newCluster();
    for (let count = 0; count < 5; count++) ensureSupervisor(clusters, PATH);
    const started = fs.readdirSync('/proc').filter((pid) => {
      const words = attempt(() => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      return words?.split('\0').at(-2) === clusters;
    });
    expect(started).toHaveLength(1);
    await settled(folder);
  });

  it('brings back a process that was killed', async () => {
    const folder = newCluster(server('only'));
    const { only = 0 } = await settled(folder, 'only');
    fs.rmSync(path.join(folder, 'only.sock'));
    process.kill(only, 'SIGKILL');
    await vi.waitFor(() => expect(statusOf(folder).only?.pid).not.toBe(only), SOON);
    await settled(folder, 'only');
    expect(processesOfCluster(folder)).toHaveLength(1);
  });

  it('is there once, however often it is started, and takes its processes with it when it is killed', async () => {
    const folder = newCluster(plain('first', 'exec sleep 1000'), plain('second', 'exec sleep 1000'));
    for (let count = 0; count < 5; count++) ensureSupervisor(clusters, PATH);
    const before = await settled(folder, 'first', 'second');
    await sleep(500);
    expect(await settled(folder, 'first', 'second')).toEqual(before);
    const running = runningSupervisor(clusters);
    process.kill(running?.pid ?? expect.fail('No supervisor runs'), 'SIGKILL');
    await vi.waitFor(() => expect(processesOfCluster(folder)).toEqual([]), SOON);
    expect(running && isAlive(running)).toBe(false);
    // Whoever needs it asks until it runs. The end of the former one may not be known here yet.
    await vi.waitFor(() => {
      const supervisor = ensureSupervisor(clusters, PATH);
      expect(readStatus(folder)?.supervisor).toEqual(supervisor);
      expect(supervisor).toBeDefined();
    }, SOON);
    const after = await settled(folder, 'first', 'second');
    expect(after.first).not.toBe(before.first);
    expect(processesOfCluster(folder)).toHaveLength(2);
  });

  it('ends what nobody could end before it starts the same again', async () => {
    const folder = newCluster();
    await settled(folder);
    const lock = path.join(folder, 'run', 'only.lock');
    fs.mkdirSync(path.dirname(lock));
    const stray = spawn('flock', ['--no-fork', lock, 'sleep', '1000'], {
      env: { ...process.env, [MARK]: folder },
    });
    await vi.waitFor(() => expect(processesOfCluster(folder)).toEqual([stray.pid]), SOON);
    writeOrders(folder, { processes: [plain('only', 'exec sleep 1000')], removing: false });
    const { only } = await settled(folder, 'only');
    expect(only).not.toBe(stray.pid);
    await vi.waitFor(() => expect(processesOfCluster(folder)).toEqual([only]), SOON);
  });

  it('ends the processes of a cluster whose folder has gone, and then itself', async () => {
    const folder = newCluster(plain('only', 'exec sleep 1000'));
    const { only = 0 } = await settled(folder, 'only');
    fs.renameSync(folder, `${clusters}/.gone`);
    await vi.waitFor(() => expect(() => process.kill(only, 0)).toThrow('ESRCH'), SOON);
    await vi.waitFor(() => expect(runningSupervisor(clusters)).toBeUndefined(), SOON);
  });
});
