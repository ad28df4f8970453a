import { expect, it } from 'vitest';
import { askedWait, waitAfter } from './queue.ts';

it.each([
  [1, 0.5, 1_000],
  [1, 0, 750],
  [1, 1, 1_250],
  [2, 0.5, 2_000],
  [5, 0.5, 16_000],
  [11, 0.5, 1_024_000],
  [12, 0.5, 1_800_000],
  [1_000_000, 0.5, 1_800_000],
])('after %i failures and a chance of %f it waits %i ms', (failures, chance, ms) => {
  expect(waitAfter(failures, () => chance)).toBe(ms);
});

it('tries often enough within a day, and not too often', () => {
  let [attempts, at] = [1, 0];
  for (; at < 86_400_000; attempts++) at += waitAfter(attempts, () => 0.5);
  expect(attempts).toBeGreaterThan(40);
  expect(attempts).toBeLessThan(80);
});

it.each([
  [undefined, 0],
  ['', 0],
  ['soon', 0],
  ['-1', 0],
  ['Wed, 21 Oct 2026 07:28:00 GMT', 0],
  ['Wed, 21 Oct 2026 07:30:30 GMT', 30_000],
  ['Wed, 21 Oct 2037 07:28:00 GMT', 3_600_000],
  ['the day after tomorrow GMT', 0],
  ['7', 7_000],
  ['999999', 3_600_000],
])('Retry-After %s asks for %i ms', (header, ms) => {
  expect(askedWait(header, new Date('2026-10-21T07:30:00Z'))).toBe(ms);
});
