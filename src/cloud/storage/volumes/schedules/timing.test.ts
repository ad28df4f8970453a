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
  [
    'half an hour of Lord Howe',
    'Australia/Lord_Howe',
    '2026-04-04T12:00Z',
    ['1', '45'],
    ['04-04T14:45', '04-05T15:15'],
  ],
  ['two hours of Troll', 'Antarctica/Troll', '2026-10-24T12:00Z', ['1', '30'], ['10-24T23:30', '10-26T01:30']],
  ['midnight that is left out', 'America/Santiago', '2026-09-05T12:00Z', ['0', '0'], ['09-06T04:00', '09-07T03:00']],
])('knows %s', (_, timezone, after, [hour = '', minute = ''], expected) => {
  expect(times({ type: 'cron', timezone, hour, minute }, after, 2)).toEqual(expected.map((time) => `2026-${time}`));
});

it.each([
  ['spring', '14', ['2026-03-29T22:00', '2026-03-29T22:20']],
  ['autumn', '44', ['2026-10-25T23:00', '2026-10-25T23:20']],
])('begins a week right after the clocks are changed in %s', (_, week, expected) => {
  expect(times(berlin({ week, minute: '0,20' }), '2026-01-01T00:00Z', 2)).toEqual(expected);
});

it('skips to the next of several weeks, and to the next year after the last', () => {
  expect(times(berlin({ week: '9, 10', day_of_week: 'wed' }), '2026-02-25T12:00Z', 3)).toEqual([
    '2026-03-03T23:00',
    '2027-03-02T23:00',
    '2027-03-09T23:00',
  ]);
});

it.each<[string, object, string[]]>([
  ['an hour: at its beginning', { hour: '3' }, ['2026-01-01T03:00', '2026-01-02T03:00']],
  ['minutes: every hour', { minute: '15, 45' }, ['2026-01-01T00:15', '2026-01-01T00:45']],
  ['a day: at midnight', { day: '5' }, ['2026-01-05T00:00', '2026-02-05T00:00']],
  ['a weekday', { day_of_week: 'MON' }, ['2026-01-05T00:00', '2026-01-12T00:00']],
  ['a month: on its first day', { month: '6' }, ['2026-06-01T00:00', '2027-06-01T00:00']],
  ['a weekday and a day', { day: '13', day_of_week: 'fri' }, ['2026-02-13T00:00', '2026-03-13T00:00']],
  ['a week: each day of it', { week: '2' }, ['2026-01-05T00:00', '2026-01-06T00:00']],
  ['an hour of a month: each day of it', { month: '2', hour: '3' }, ['2026-02-01T03:00', '2026-02-02T03:00']],
  ['blanks around a star', { minute: ' 7 ', hour: ' * ' }, ['2026-01-01T00:07', '2026-01-01T01:07']],
  [
    'the largest values',
    { month: '12', day: '31', hour: '23', minute: '59' },
    ['2026-12-31T23:59', '2027-12-31T23:59'],
  ],
  ['an ISO week', { week: '2', day_of_week: 'sun' }, ['2026-01-11T00:00', '2027-01-17T00:00']],
  ['week 53', { week: '53', day: '1', month: '1' }, ['2027-01-01T00:00', '2033-01-01T00:00']],
  ['every minute', { minute: '*' }, ['2026-01-01T00:01', '2026-01-01T00:02']],
])('takes %s', (_, fields, expected) => {
  expect(times({ type: 'cron', ...fields }, '2026-01-01T00:00Z', 2)).toEqual(expected);
});

it('adds up weeks, days, hours and minutes', () => {
  const after = new Date('2026-01-01T00:00Z');
  const timing: Timing = { type: 'interval', weeks: 1, days: 2, hours: 3, minutes: 4 };
  expect(nextTime(timing, after)).toEqual(new Date('2026-01-10T03:04Z'));
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
  [{ type: 'cron', hour: '1 2' }, 'hour'],
  [{ type: 'cron', hour: '024' }, 'hour'],
  [{ type: 'cron', hour: 'x1' }, 'hour'],
  [{ type: 'cron', hour: '' }, 'hour'],
  [{ type: 'cron', hour: '24' }, 'hour'],
  [{ type: 'cron', day: '0' }, 'day'],
  [{ type: 'cron', day: '32' }, 'day'],
  [{ type: 'cron', week: '0' }, 'week'],
  [{ type: 'cron', month: '0' }, 'month'],
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
  [{ type: 'interval', days: 3650, minutes: 1 }, 'minutes'],
])('refuses %j', (timing, field) => {
  const problems = timingProblems(timing as Timing, 'at.', new Date());
  expect(problems.map((one) => one.field)).toEqual([`at.${field}`]);
});

it('refuses nothing else', () => {
  for (const timing of [
    { type: 'cron', hour: '0, 20', timezone: 'UTC' },
    { type: 'cron', minute: '59', hour: '23', day: '31', week: '53', month: '12' },
    { type: 'interval', minutes: 1 },
    { type: 'interval', days: 3650 },
  ])
    expect(timingProblems(timing as Timing, '', new Date())).toEqual([]);
});
