import { waitAfter as waitBetween } from '../../../lib/backoff.ts';

const WAITS = { firstMs: 1_000, longestMs: 30 * 60_000 };
/** What a receiver asks for with `Retry-After` counts up to here. */
const MOST_ASKED_MS = 3_600_000;

/** Returns how long to wait after that many failures in a row, in milliseconds. `random` returns numbers from 0 to 1. */
export const waitAfter = (failures: number, random: () => number): number =>
  waitBetween(failures, WAITS, random);

/** Returns what `Retry-After` asks for, in milliseconds: seconds, or a date by the receiver's clock. 0 for nonsense. */
export function askedWait(header: string | undefined, now: Date): number {
  const text = header ?? '';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : timeOf(text) - now.getTime();
  return Math.min(Math.max(ms, 0), MOST_ASKED_MS);
}

/** Returns the time of a date as HTTP writes it; 0 for another text. */
const timeOf = (text: string): number => (text.endsWith(' GMT') && Date.parse(text)) || 0;
