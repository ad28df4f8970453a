import { setTimeout as sleep } from 'node:timers/promises';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Time enough for what a test does within one hour or day. */
const ENOUGH_MS = 15_000;

/** Waits for the next hour or day in UTC if this one is nearly over, since some of what is tested counts by them. */
export async function notAtTheEndOf(periodMs: number): Promise<void> {
  const left = periodMs - (Date.now() % periodMs);
  // Some things count only when they are a second old.
  if (left < ENOUGH_MS) await sleep(left + 2_000);
}
