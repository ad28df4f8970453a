import { expect, it } from 'vitest';
import { calendarTime, momentIn, periodOf } from './time.ts';

it.each([
  ['2028-02-29T23:59:59Z', '2028-02-29T23:59:59.000Z'],
  ['2026-03-01T00:30:00', '2026-03-01T00:30:00.000Z'],
  ['2026-03-01T00:30:00.250', '2026-03-01T00:30:00.250Z'],
  ['2026-03-01T00:30:00z', '2026-03-01T00:30:00.000Z'],
  ['2026-03-01T00:30:00+02:00', '2026-02-28T22:30:00.000Z'],
  ['2026-03-01T00:30:00-0200', '2026-03-01T02:30:00.000Z'],
])('reads %s', (text, moment) => {
  expect(calendarTime('from', text)?.toISOString()).toBe(moment);
});

it.each([
  '2026-02-29T00:00:00Z',
  '2026-02-31T00:00:00',
  '2026-13-01T00:00:00Z',
  '2026-01-01T25:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-12:00',
])('refuses %s, which no calendar has', (text) => {
  expect(() => calendarTime('from', text)).toThrow('no such date');
});

it('reads a moment, and refuses the leap second that no Date can hold', () => {
  expect(momentIn('expires', '2030-12-31T23:59:59Z').getTime()).toBe(Date.UTC(2030, 11, 31, 23, 59, 59));
  expect(() => momentIn('expires', '2016-12-31T23:59:60Z')).toThrow('expires: Must be a valid date-time');
});

it.each([
  [undefined, undefined],
  ['2026-03-01T00:30:00', '2026-03-01T00:30:01.000Z'],
  ['2026-03-01T00:30:00.250', '2026-03-01T00:30:00.251Z'],
])('ends the period to %s before %s', (to, before) => {
  const period = periodOf(to === undefined ? {} : { to_timestamp: to });
  expect([period.from, period.before?.toISOString()]).toEqual([undefined, before]);
});

it('begins a period at its first moment', () => {
  const { from, before } = periodOf({ from_timestamp: '2026-03-01T00:30:00' });
  expect([from?.toISOString(), before]).toEqual(['2026-03-01T00:30:00.000Z', undefined]);
  expect(() => periodOf({ from_timestamp: '2026-02-30T00:00:00' })).toThrow('from_timestamp: There is no');
  expect(() => periodOf({ to_timestamp: '2026-02-30T00:00:00' })).toThrow('to_timestamp: There is no');
});
