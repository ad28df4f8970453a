import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { attempt } from '../../../src/lib/errors.ts';
import { type ProcessName, processesOfCluster } from './alive.ts';
import { type Child, HELD, type Place, startChild } from './child.ts';
import {
  hashOf,
  type Orders,
  type Probe,
  type Process,
  type ProcessStatus,
  readOrders,
  type Status,
  writeStatus,
} from './files.ts';
import { lastWordsOf, rotateLog } from './logs.ts';

const PATIENCE_MS = 2_000;

/** Whether the process answers 200. Paths of sockets are relative, since the kernel allows a hundred characters. */
export function answers(folder: string, probe: Probe): Promise<boolean> {
  return new Promise((resolve) => {
    const no = () => resolve(false);
    const read = (name: string) => fs.readFileSync(path.resolve(folder, name));
    const options = { timeout: PATIENCE_MS, agent: false } as const;
    try {
      const request =
        'socket' in probe
          ? http.get(
              {
                ...options,
                socketPath: path.relative('', path.join(folder, probe.socket)),
                path: probe.path,
              },
              heard,
            )
          : https.get(
              probe.url,
              {
                ...options,
                ca: read(probe.caFile),
                cert: read(probe.certificateFile),
                key: read(probe.keyFile),
              },
              heard,
            );
      request.on('error', no).on('timeout', () => request.destroy(new Error('it does not answer')));
    } catch {
      // A file is missing, since the cluster is being removed.
      no();
    }

    function heard(response: http.IncomingMessage): void {
      response.resume();
      resolve(response.statusCode === 200);
    }
  });
}

/** A process that has run for this long has started well. */
const STEADY_MS = 1_000;
const FORGIVEN_MS = 60_000;
const PAUSE_MS = { first: 250, longest: 15_000 };
const STRAYS_MS = 50;

/** One wanted process, whether it runs or not. */
interface Kept {
  name: string;
  hash: string;
  child?: Child;
  ready: boolean;
  startedAt: number;
  failures: number;
  lastWords: string;
  notBefore: number;
}

/** Keeps the processes of one cluster as its orders say. */
export interface Keeper {
  /** Does what can be done now. Returns whether all is as ordered; undefined if the cluster's folder is gone. */
  look(): Promise<boolean | undefined>;
  stop(): Promise<void>;
}

/** @param wake called when a process has ended */
export function createKeeper(place: Place, self: ProcessName, wake: () => void): Keeper {
  const { folder } = place;
  const kept = new Map<string, Kept>();
  let reported: Status | undefined;
  let alone = false;

  /** Ends processes that a supervisor before us could not end, which is rare: the kernel ends them with it. */
  async function endStrays(): Promise<void> {
    const ours = new Set([...kept.values()].map(({ child }) => child?.pid));
    for (;;) {
      const strays = processesOfCluster(folder).filter((pid) => !ours.has(pid));
      if (strays.length === 0) return;
      for (const pid of strays) attempt(() => process.kill(pid, 'SIGKILL'));
      await sleep(STRAYS_MS);
    }
  }

  async function bring(wanted: Process): Promise<boolean> {
    const hash = hashOf(wanted);
    let one = kept.get(wanted.name);
    if (one && one.hash !== hash) {
      await one.child?.stop();
      one = undefined;
    }
    if (!one) {
      const { name } = wanted;
      one = { name, hash, ready: false, startedAt: 0, failures: 0, lastWords: '', notBefore: 0 };
      kept.set(name, one);
    }
    const now = performance.now();
    if (!one.child?.running) {
      if (now >= one.notBefore) start(one, wanted);
      return false;
    }
    rotateLog(folder, one.name);
    one.ready ||= wanted.ready ? await answers(folder, wanted.ready) : now - one.startedAt > STEADY_MS;
    return one.ready;
  }

  function start(one: Kept, wanted: Process): void {
    one.startedAt = performance.now();
    one.ready = false;
    const child = startChild(place, wanted, (code) => {
      if (one.child !== child || kept.get(one.name) !== one) return;
      const now = performance.now();
      one.ready = false;
      one.lastWords = lastWordsOf(folder, one.name);
      if (now - one.startedAt > FORGIVEN_MS) one.failures = 0;
      if (code === HELD) alone = false;
      else one.failures += 1;
      one.notBefore = now + Math.min(PAUSE_MS.first * 2 ** one.failures, PAUSE_MS.longest);
      wake();
    });
    one.child = child;
  }

  async function obey({ processes }: Orders): Promise<boolean> {
    if (!alone) await endStrays();
    alone = true;
    const names = new Set(processes.map(({ name }) => name));
    for (const one of [...kept.values()].reverse()) {
      if (names.has(one.name)) continue;
      kept.delete(one.name);
      await one.child?.stop();
    }
    let settled = true;
    for (const wanted of processes) {
      const ready = await bring(wanted);
      settled &&= ready;
      if (!ready && wanted.ready) break;
    }
    return settled;
  }

  function report(orders: Orders, settled: boolean): void {
    const processes = [...kept.values()].map(({ name, hash, child, ready, failures, lastWords }) => {
      const running = child?.running === true && child.pid !== undefined;
      const status: ProcessStatus = {
        hash,
        ...(running && { pid: child.pid }),
        ready,
        failures,
        lastWords,
      };
      return [name, status] as const;
    });
    const status = { supervisor: self, orders: orders.id, settled, processes: Object.fromEntries(processes) };
    if (isDeepStrictEqual(status, reported)) return;
    writeStatus(folder, status);
    reported = status;
  }

  async function stop(): Promise<void> {
    const children = [...kept.values()].reverse();
    kept.clear();
    for (const { child } of children) await child?.stop();
  }

  return {
    async look() {
      const orders = readOrders(folder);
      if (!orders) {
        await stop();
        return undefined;
      }
      const settled = await obey(orders);
      report(orders, settled);
      return settled;
    },
    stop,
  };
}
