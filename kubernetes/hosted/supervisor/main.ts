// Keeps the control planes of all clusters in a folder running. It outlives the Tradewind that started it, and ends when
// there is no cluster any more. Started by start.ts as: node main.js <folder>
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../../src/lib/errors.ts';
import { lockFile } from '../../../src/lib/file-lock.ts';
import { nameOf, type ProcessName } from './alive.ts';
import type { Place } from './child.ts';
import { ordersVersion, writeJson } from './files.ts';
import { createKeeper, type Keeper } from './keeper.ts';
import { rotateLog, SUPERVISOR } from './logs.ts';

/** How often a cluster is looked at while something happens to it, and otherwise. */
const BUSY_MS = 100;
const SETTLED_MS = 1_000;
/** Orders are noticed within this time. */
const TICK_MS = 100;
const IDLE_MS = 3_000;

interface Looked {
  keeper: Keeper;
  /** Of the orders at the last look. */
  version: string | undefined;
  dueAt: number;
  busy: boolean;
}

async function main(folder: string, searchPath: string): Promise<void> {
  const lock = lockFile(path.join(folder, 'supervisor.lock'));
  // Another one is faster.
  if (!lock) return;
  const self = nameOf(process.pid);
  if (!self) throw new Error('There is no /proc');
  writeJson(path.join(folder, 'supervisor.json'), self);
  const looked = new Map<string, Looked>();
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      stopping = true;
    });
  }
  process.on('SIGHUP', () => {});

  let idleSince = performance.now();
  while (!stopping && performance.now() - idleSince < IDLE_MS) {
    for (const id of clustersIn(folder)) {
      if (!looked.has(id)) looked.set(id, newlyLooked({ folder: path.join(folder, id), searchPath }, self));
    }
    for (const [id, one] of looked) void look(id, one);
    if (looked.size > 0) idleSince = performance.now();
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all([...looked.values()].map(({ keeper }) => keeper.stop()));
  attempt(() => fs.rmSync(path.join(folder, 'supervisor.json')));

  async function look(id: string, one: Looked): Promise<void> {
    const version = ordersVersion(path.join(folder, id));
    if (one.busy || (version === one.version && performance.now() < one.dueAt)) return;
    one.busy = true;
    one.version = version;
    let pauseMs = SETTLED_MS;
    try {
      const settled = await one.keeper.look();
      if (settled === undefined) looked.delete(id);
      if (settled === false) pauseMs = BUSY_MS;
    } catch (error) {
      // Such as a full disk, perhaps for days.
      rotateLog(folder, SUPERVISOR);
      if (fs.existsSync(path.join(folder, id))) console.error(new Date().toISOString(), id, error);
    }
    one.dueAt = performance.now() + pauseMs;
    one.busy = false;
  }
}

function newlyLooked(place: Place, self: ProcessName): Looked {
  const one: Looked = {
    keeper: createKeeper(place, self, () => {
      one.dueAt = 0;
    }),
    version: undefined,
    dueAt: 0,
    busy: false,
  };
  return one;
}

/** Folders of clusters have their orders from the first moment on. */
const clustersIn = (folder: string): string[] =>
  (attempt(() => fs.readdirSync(folder)) ?? []).filter(
    (name) => !name.startsWith('.') && ordersVersion(path.join(folder, name)) !== undefined,
  );

const [, , folder] = process.argv;
if (folder === undefined) throw new Error('The folder of the clusters is missing');
main(folder, process.env.PATH ?? '').then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
