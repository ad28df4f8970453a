import { describe, expect, it } from 'vitest';
import { nextTime, type Timing, timingProblems } from './timing.ts';

/** Returns the next times that a schedule is due. */
function times(timing: Timing, after: string, count: number): string[] {
  const found: string[] = [];
  for (let at = new Date(after); found.length < count; ) {
    const next = nextTime(timing, at, at);
    if (!next) break;
    found.push(next.toISOString().slice(0, 16));
    at = next;
  }
  return found;
}

const berlin = (fields: object): Timing => ({ type: 'cron', timezone: 'Europe/Berlin', ...fields });

describe('the night in March when 02:00 becomes 03:00', () => {
  it('is due when the clocks have jumped, if the time is left out', () => {
    expect(times(berlin({ hour: '2', minute: '30' }), '2026-03-28T12:00Z', 2)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ]);
  });

  it('is due once for all of the times that are left out', () => {
    expect(times(berlin({ hour: '2,3' }), '2026-03-28T12:00Z', 3)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:00',
      '2026-03-30T01:00',
    ]);
  });

  it('is due in each hour that there is', () => {
    expect(times(berlin({ minute: '30' }), '2026-03-28T23:40Z', 3)).toEqual([
      '2026-03-29T00:30',
      '2026-03-29T01:30',
      '2026-03-29T02:30',
    ]);
  });
});

describe('the night in October when 03:00 becomes 02:00', () => {
  it.each(['2', '1, 2', '2,3'])('is due once at each time, if the hours are %s', (hour) => {
    const night = times(berlin({ hour, minute: '30' }), '2026-10-24T20:00Z', 6).filter((one) =>
      one.startsWith('2026-10-25'),
    );
    const [first] = times(berlin({ hour: '2', minute: '30' }), '2026-10-24T20:00Z', 1);
    expect(first).toBe('2026-10-25T00:30');
    expect(night).toContain(first);
    expect(night).not.toContain('2026-10-25T01:30');
  });

  it('is due in both of the hours, if it is due every hour', () => {
    expect(times(berlin({ minute: '30' }), '2026-10-24T23:40Z', 3)).toEqual([
      '2026-10-25T00:30',
      '2026-10-25T01:30',
      '2026-10-25T02:30',
    ]);
  });

  it('is not due again for who looks between the two', () => {
    expect(times(berlin({ hour: '2', minute: '30' }), '2026-10-25T00:45Z', 1)).toEqual(['2026-10-26T01:30']);
  });
});

it.each([
  ['half an hour of Lord Howe', 'Australia/Lord_Howe', '2026-04-04T12:00Z', '1', '45', '2026-04-04T14:45'],
  ['midnight that is left out', 'America/Santiago', '2026-09-05T12:00Z', '0', '0', '2026-09-06T04:00'],
])('knows %s', (_, timezone, after, hour, minute, expected) => {
  expect(times({ type: 'cron', timezone, hour, minute }, after, 1)).toEqual([expected]);
});

it.each<[string, object, string[]]>([
  ['an hour: at its beginning', { hour: '3' }, ['2026-01-01T03:00', '2026-01-02T03:00']],
  ['minutes: every hour', { minute: '15, 45' }, ['2026-01-01T00:15', '2026-01-01T00:45']],
  ['a day: at midnight', { day: '5' }, ['2026-01-05T00:00', '2026-02-05T00:00']],
  ['a weekday', { day_of_week: 'MON' }, ['2026-01-05T00:00', '2026-01-12T00:00']],
  ['a month: on its first day', { month: '6' }, ['2026-06-01T00:00', '2027-06-01T00:00']],
  ['a weekday and a day', { day: '13', day_of_week: 'fri' }, ['2026-02-13T00:00', '2026-03-13T00:00']],
  ['an ISO week', { week: '2', day_of_week: 'sun' }, ['2026-01-11T00:00', '2027-01-17T00:00']],
  ['week 53', { week: '53', day: '1', month: '1' }, ['2027-01-01T00:00', '2033-01-01T00:00']],
  ['every minute', { minute: '*' }, ['2026-01-01T00:01', '2026-01-01T00:02']],
])('takes %s', (_, fields, expected) => {
  expect(times({ type: 'cron', ...fields }, '2026-01-01T00:00Z', 2)).toEqual(expected);
});

it('keeps the rhythm of an interval, and leaves out what was missed', () => {
  const due = new Date('2026-01-01T00:00Z');
  const next = (after: string) => nextTime({ type: 'interval', hours: 1, minutes: 30 }, new Date(after), due);
  expect(next('2026-01-01T00:00Z')).toEqual(new Date('2026-01-01T01:30Z'));
  expect(next('2026-01-01T05:00Z')).toEqual(new Date('2026-01-01T06:00Z'));
  expect(next('2026-01-01T06:00Z')).toEqual(new Date('2026-01-01T07:30Z'));
});

it.each<[object, string]>([
  [{ type: 'cron' }, 'minute'],
  [{ type: 'cron', minute: '60' }, 'minute'],
  [{ type: 'cron', hour: '*/2' }, 'hour'],
  [{ type: 'cron', hour: '1-5' }, 'hour'],
  [{ type: 'cron', hour: '1,' }, 'hour'],
  [{ type: 'cron', day: '0' }, 'day'],
  [{ type: 'cron', day_of_week: '1' }, 'day_of_week'],
  [{ type: 'cron', week: '54' }, 'week'],
  [{ type: 'cron', month: '13' }, 'month'],
  [{ type: 'cron', hour: '1', timezone: 'Europe/Atlantis' }, 'timezone'],
  [{ type: 'cron', hour: '1', timezone: '+01:00' }, 'timezone'],
  [{ type: 'cron', day: '30', month: '2' }, 'day'],
  [{ type: 'cron', week: '53', month: '7' }, 'day'],
  [{ type: 'interval' }, 'minutes'],
  [{ type: 'interval', weeks: 0, minutes: 0 }, 'minutes'],
  [{ type: 'interval', weeks: 521, days: 30 }, 'minutes'],
])('refuses %j', (timing, field) => {
  const problems = timingProblems(timing as Timing, 'at.', new Date());
  expect(problems.map((one) => one.field)).toEqual([`at.${field}`]);
});

it('refuses nothing else', () => {
  for (const timing of [
    { type: 'cron', hour: '0, 20', timezone: 'UTC' },
    { type: 'interval', minutes: 1 },
  ])
    expect(timingProblems(timing as Timing, '', new Date())).toEqual([]);
});
