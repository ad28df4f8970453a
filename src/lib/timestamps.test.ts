import { expect, test } from 'vitest';
import { isoMicros, isoSeconds, microsWithoutZone, offsetTimestamp, plainSeconds } from './time.ts';

test.each([
  ['2019-06-18T11:56:16.999Z', '2019-06-18T11:56:16+0000', '2019-06-18T11:56:16Z', '2019-06-18T11:56:16.999000Z'],
  ['2024-01-01T00:00:00+02:00', '2023-12-31T22:00:00+0000', '2023-12-31T22:00:00Z', '2023-12-31T22:00:00.000000Z'],
])('%s in every form', (given, offset, seconds, micros) => {
  const date = new Date(given);
  expect(offsetTimestamp(date)).toBe(offset);
  expect(isoSeconds(date)).toBe(seconds);
  expect(`${plainSeconds(date)}Z`).toBe(seconds);
  expect(isoMicros(date)).toBe(micros);
  expect(`${microsWithoutZone(date)}Z`).toBe(micros);
});
