import pLimit from 'p-limit';
import { expect } from 'vitest';

/** Enough to keep a server busy while the others' answers are read. */
const AT_ONCE = 8;

/**
 * Runs a check for each of them, several at a time, and fails with what was wrong with which. To look at none would prove
 * nothing, and fails too.
 */
export async function every<T extends { title: string }>(
  all: readonly T[],
  check: (one: T) => Promise<unknown>,
  { atOnce = AT_ONCE }: { atOnce?: number } = {},
): Promise<void> {
  expect(all.length, 'what is looped over').toBeGreaterThan(0);
  const faults: string[] = [];
  await pLimit(atOnce).map(all, async (one) => {
    try {
      await check(one);
    } catch (error) {
      faults.push(`${one.title}: ${error instanceof Error ? error.message : error}`);
    }
  });
  expect(faults).toEqual([]);
}
