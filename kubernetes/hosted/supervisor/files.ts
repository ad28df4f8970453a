import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../../src/lib/errors.ts';
import type { ProcessName } from './alive.ts';

/** How a process is asked whether it is ready. Files are in the cluster's folder. */
export type Probe =
  | { socket: string; path: string }
  | { url: string; caFile: string; certificateFile: string; keyFile: string };

/** A program that the supervisor keeps running in the cluster's folder. */
export interface Process {
  name: string;
  /** An absolute path. */
  program: string;
  args: string[];
  env: Record<string, string>;
  /** How long it may take to stop before it is killed; ten seconds by default. */
  stopMs?: number;
  /** The next processes are started or replaced once this answers 200. Without it, they don't wait. */
  ready?: Probe;
}

/** What should run for a cluster, in the order in which it is started and replaced. */
export interface Orders {
  /** New with each writing. */
  id: string;
  processes: Process[];
  /** The cluster's folder is removed as soon as nothing runs. */
  removing: boolean;
}

export interface ProcessStatus {
  /** Changes with everything that the process is started with. */
  hash: string;
  /** Undefined while it does not run. */
  pid?: number;
  ready: boolean;
  /** How many times it ended by itself, one after another. */
  failures: number;
  lastWords: string;
}

/** What a supervisor has seen. */
export interface Status {
  supervisor: ProcessName;
  /** Of the orders that it has read. */
  orders: string;
  /** Whether all is as in these orders. */
  settled: boolean;
  processes: Record<string, ProcessStatus>;
}

const ordersFile = (folder: string): string => path.join(folder, 'orders.json');
const statusFile = (folder: string): string => path.join(folder, 'status.json');

export const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

/** These return undefined where there is no such file, or no such folder. */
export const readOrders = (folder: string): Orders | undefined => readJson(ordersFile(folder));
export const readStatus = (folder: string): Status | undefined => readJson(statusFile(folder));

export function writeOrders(folder: string, orders: Omit<Orders, 'id'>): void {
  writeJson(ordersFile(folder), { id: randomUUID(), ...orders });
}
export const writeStatus = (folder: string, status: Status): void => writeJson(statusFile(folder), status);

/** Changes when the orders are written again. */
export function ordersVersion(folder: string): string | undefined {
  const about = attempt(() => fs.statSync(ordersFile(folder)));
  return about && `${about.ino} ${about.mtimeMs}`;
}

export function readJson<T>(file: string): T | undefined {
  const text = attempt(() => fs.readFileSync(file, 'utf8'));
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

export const writeJson = (file: string, value: unknown): void => writeText(file, JSON.stringify(value, null, 1));

/** Readers see the former file or the whole new one, after a power failure as well. */
export function writeText(file: string, text: string): void {
  const draft = `${file}.${randomUUID()}`;
  fs.writeFileSync(draft, text, { mode: 0o600, flush: true });
  fs.renameSync(draft, file);
}
