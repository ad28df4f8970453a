import { expect, it } from 'vitest';
import { idleTimes } from './node-settings.ts';

const now = new Date('2026-05-23T12:00:00Z');

it('are up to 60 of the interval, oldest first', () => {
  const times = idleTimes({ time_unit: 'hour', time_interval: 1 }, new Date(0), now);
  expect(times).toHaveLength(60);
  expect([times[0], times.at(-1)]).toEqual(['2026-05-23T11:01:00Z', '2026-05-23T12:00:00Z']);
  const days = idleTimes({ time_unit: 'day', time_interval: 30 }, new Date(0), now);
  expect(days[0]).toBe('2026-04-24T00:00:00Z');
});

it('begin with what they are of', () => {
  const made = new Date('2026-05-23T11:58:30Z');
  expect(idleTimes({ time_unit: 'hour', time_interval: 1 }, made, now)).toEqual([
    '2026-05-23T11:59:00Z',
    '2026-05-23T12:00:00Z',
  ]);
});
