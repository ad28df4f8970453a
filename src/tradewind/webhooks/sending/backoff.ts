const FIRST_MS = 1_000;
const LONGEST_MS = 30 * 60_000;
const JITTER = 0.25;
/** What a receiver asks for with `Retry-After` counts up to here. */
const MOST_ASKED_MS = 3_600_000;

/**
 * Returns how long to wait after that many failures in a row, in milliseconds: twice as long each time, up to half an
 * hour, and a quarter more or less. `random` returns numbers from 0 to 1.
 */
export function waitAfter(failures: number, random: () => number): number {
  const wait = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), LONGEST_MS);
  return wait * (1 - JITTER + 2 * JITTER * random());
}

/** Returns what `Retry-After` asks for, in milliseconds: seconds, or a date by the receiver's clock. 0 for nonsense. */
export function askedWait(header: string | undefined, now: Date): number {
  const text = header ?? '';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : timeOf(text) - now.getTime();
  return Math.min(Math.max(ms, 0), MOST_ASKED_MS);
}

/** Returns the time of a date as HTTP writes it; 0 for another text. */
const timeOf = (text: string): number => (text.endsWith(' GMT') && Date.parse(text)) || 0;
