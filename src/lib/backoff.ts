const JITTER = 0.25;

/** How long to wait after failures, in milliseconds: the first time, and at most. */
export interface Waits {
  firstMs: number;
  longestMs: number;
}

/**
 * Returns how long to wait after that many failures in a row, in milliseconds: twice as long each time, and a quarter
 * more or less. `random` returns numbers from 0 to 1.
 */
export function waitAfter(failures: number, { firstMs, longestMs }: Waits, random: () => number): number {
  const wait = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs);
  return wait * (1 - JITTER + 2 * JITTER * random());
}
