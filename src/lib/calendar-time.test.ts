import { expect, it } from 'vitest';
import { calendarTime } from './calendar-time.ts';

it.each([
  ['2028-02-29T23:59:59Z', '2028-02-29T23:59:59.000Z'],
  ['2026-03-01T00:30:00', '2026-03-01T00:30:00.000Z'],
  ['2026-03-01T00:30:00+02:00', '2026-02-28T22:30:00.000Z'],
])('reads %s', (text, moment) => {
  expect(calendarTime('from', text)?.toISOString()).toBe(moment);
});

it.each(['2026-02-29T00:00:00Z', '2026-02-31T00:00:00', '2026-13-01T00:00:00Z', '2026-01-01T25:00:00Z'])(
  'refuses %s, which no calendar has',
  (text) => {
    expect(() => calendarTime('from', text)).toThrow('no such date');
  },
);
