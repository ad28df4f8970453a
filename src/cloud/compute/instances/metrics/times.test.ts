import { expect, it } from 'vitest';
import { InvalidError } from '../../../../lib/errors.ts';
import { timesOf } from './routes.ts';

const now = new Date('2026-11-23T12:00:07Z');
const long = new Date('2026-01-01T00:00:00Z');

it.each([
  [1, 'hour', 240, 15],
  [6, 'hour', 1080, 20],
  [24, 'hour', 720, 120],
  [1, 'day', 720, 120],
  [7, 'day', 1008, 600],
  [168, 'hour', 1008, 600],
  [14, 'day', 1008, 1200],
] as const)('%d %s has %d points, %d s apart', (time_interval, time_unit, points, seconds) => {
  const times = timesOf({ time_interval, time_unit }, { createdAt: long, now });
  expect(times?.stepMs).toBe(seconds * 1000);
  const { from = now, to = now } = times ?? {};
  expect((to.getTime() - from.getTime()) / (seconds * 1000) + 1).toBe(points);
  expect(to.toISOString()).toBe('2026-11-23T12:00:00.000Z');
});

it('begins with the machine, which may be too young for any point', () => {
  const hour = { time_interval: 1, time_unit: 'hour' } as const;
  const times = timesOf(hour, { createdAt: new Date('2026-11-23T11:59:31Z'), now });
  expect(times?.from.toISOString()).toBe('2026-11-23T11:59:45.000Z');
  expect(timesOf(hour, { createdAt: new Date('2026-11-23T12:00:01Z'), now })).toBeUndefined();
});

it.each([
  [2, 'hour'],
  [2, 'day'],
  [336, 'day'],
] as const)('refuses %d %s', (time_interval, time_unit) => {
  expect(() => timesOf({ time_interval, time_unit }, { createdAt: long, now })).toThrow(InvalidError);
});
