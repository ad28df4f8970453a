import { waitAfter as waitBetween } from '../../../lib/backoff.ts';

const WAITS = { firstMs: 1_000, longestMs: 30 * 60_000 };
/** What a receiver asks for with `Retry-After` counts up to here. */
const MOST_ASKED_MS = 3_600_000;

/** Returns how long to wait after that many failures in a row, in milliseconds. `random` returns numbers from 0 to 1. */
export const waitAfter = (failures: number, random: () => number): number =>
  waitBetween(failures, WAITS, random);

/** Returns what `Retry-After` asks for, in milliseconds; 0 if it is not a number of seconds. */
export function askedWait(header: string | undefined): number {
  return /^\d{1,9}$/.test(header ?? '') ? Math.min(Number(header) * 1_000, MOST_ASKED_MS) : 0;
}
