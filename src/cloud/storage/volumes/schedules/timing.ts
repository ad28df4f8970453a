import { Cron } from 'croner';
import type { FieldProblem } from '../../../../lib/errors.ts';

/*
 * When schedules are due. Cron fields hold as in APScheduler, which the published contract follows: all of them must
 * match, weeks are ISO weeks, a field that is left out means every value, or its first one if a larger unit is the
 * smallest that is given. A time that a clock skips in spring is due when the clock has jumped; one that comes twice in
 * autumn is due the first time only, unless the schedule runs every hour.
 */

/** A time as weeks, days, hours and minutes, each of which may be left out. */
export interface Span {
  weeks?: number;
  days?: number;
  hours?: number;
  minutes?: number;
}

/** By the clock on the wall of a time zone. Each field is `*` or a list of numbers or weekdays, as it was given. */
export interface CronTiming {
  type: 'cron';
  timezone?: string;
  minute?: string;
  hour?: string;
  day?: string;
  day_of_week?: string;
  week?: string;
  month?: string;
}

/** Again and again after the same time. */
export interface IntervalTiming extends Span {
  type: 'interval';
}

export type Timing = CronTiming | IntervalTiming;

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;
const MINUTES = { weeks: 7 * 24 * 60, days: 24 * 60, hours: 60, minutes: 1 };
/** Ten years. */
export const MOST_MINUTES = 10 * 365 * 24 * 60;
/** All combinations of weeks, weekdays and days come within so many years, or not in our time. */
const MOST_YEARS = 30;
/** Clocks are set back by one of these; half an hour on Lord Howe Island, two at Troll. */
const SET_BACK_MINUTES = [60, 30, 120];

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
/** From the largest unit to the smallest, with the values that each may have. */
const FIELDS = {
  month: { from: 1, to: 12 },
  day: { from: 1, to: 31 },
  week: { from: 1, to: 53 },
  day_of_week: { from: 0, to: 6 },
  hour: { from: 0, to: 23 },
  minute: { from: 0, to: 59 },
} as const;
type Field = keyof typeof FIELDS;
const NAMES = Object.keys(FIELDS) as Field[];
/** What a field means that is smaller than the smallest one given. */
const FIRST: Record<Field, string> = { month: '1', day: '1', week: '*', day_of_week: '*', hour: '0', minute: '0' };

export const minutesOf = (span: Span): number =>
  Object.entries(MINUTES).reduce((sum, [unit, each]) => sum + (span[unit as keyof Span] ?? 0) * each, 0);

/** Returns what is wrong with a timing; `at` is the path to it, such as `schedules.0.`. */
export function timingProblems(timing: Timing, at: string, now: Date): FieldProblem[] {
  if (timing.type === 'interval') return spanProblems(timing, `${at}minutes`, 'An interval');
  const problems = NAMES.flatMap((name) => {
    const text = timing[name];
    const message = text === undefined ? undefined : faultOf(name, text);
    return message === undefined ? [] : [{ field: at + name, message }];
  });
  if (timing.timezone !== undefined && !isZone(timing.timezone)) {
    const message = 'Is no time zone of the IANA database; send one such as Europe/Berlin or UTC.';
    problems.push({ field: `${at}timezone`, message });
  }
  if (problems.length > 0) return problems;
  if (NAMES.every((name) => timing[name] === undefined)) {
    return [{ field: `${at}minute`, message: `A cron schedule needs at least one of ${NAMES.join(', ')}.` }];
  }
  if (nextTime(timing, now) === undefined) {
    return [{ field: `${at}day`, message: 'No day is like that: the schedule would never be due.' }];
  }
  return [];
}

/** Returns what is wrong with a time that must not be 0, nor longer than ten years. */
export function spanProblems(span: Span, field: string, what: string): FieldProblem[] {
  const minutes = minutesOf(span);
  if (minutes === 0) return [{ field, message: `${what} needs weeks, days, hours or minutes above 0.` }];
  if (minutes > MOST_MINUTES) return [{ field, message: `${what} is ten years at most.` }];
  return [];
}

/**
 * Returns when a schedule is due next after that time; undefined if it never is. An interval goes on from `due`, the last
 * time that it was due, if there is one.
 */
export function nextTime(timing: Timing, after: Date, due?: Date): Date | undefined {
  return timing.type === 'cron' ? nextByClock(timing, after) : nextByInterval(timing, after, due ?? after);
}

/** Times that were missed are left out, so that the interval keeps its rhythm. */
function nextByInterval(timing: IntervalTiming, after: Date, due: Date): Date {
  const every = minutesOf(timing) * MINUTE_MS;
  const missed = Math.max(0, Math.floor((after.getTime() - due.getTime()) / every));
  return new Date(due.getTime() + (missed + 1) * every);
}

function nextByClock(timing: CronTiming, after: Date): Date | undefined {
  const zone = timing.timezone ?? 'UTC';
  const { pattern, weeks, everyHour } = patternOf(timing);
  const cron = new Cron(pattern, { timezone: zone, domAndDow: true, paused: true });
  const end = after.getTime() + MOST_YEARS * 366 * DAY_MS;
  for (let next = cron.nextRun(after); next && next.getTime() < end; ) {
    const isOther = weeks && !weeks.has(isoWeek(dayOf(wallTime(next, zone))));
    if (!isOther && (everyHour || !comesAgain(next, zone))) return next;
    next = cron.nextRun(isOther ? beforeWeek(weeks, next, zone) : next);
  }
  return undefined;
}

function patternOf(timing: CronTiming) {
  const smallest = NAMES.findLastIndex((name) => timing[name] !== undefined);
  const field = (name: Field): string => {
    const given = timing[name] ?? (NAMES.indexOf(name) > smallest ? FIRST[name] : '*');
    return given === '*' ? given : valuesIn(given).join(',');
  };
  const week = field('week');
  const days = field('day_of_week')
    .split(',')
    .map((day) => (day === '*' ? day : String(WEEKDAYS.indexOf(day) + 1)));
  return {
    pattern: `0 ${field('minute')} ${field('hour')} ${field('day')} ${field('month')} ${days.join(',')}`,
    weeks: week === '*' ? undefined : new Set(week.split(',').map(Number)),
    everyHour: field('hour') === '*',
  };
}

const valuesIn = (text: string): string[] => text.split(',').map((one) => one.trim().toLowerCase());

function faultOf(name: Field, text: string): string | undefined {
  if (text.trim() === '*') return undefined;
  const { from, to } = FIELDS[name];
  const isValue = (one: string) =>
    name === 'day_of_week' ? WEEKDAYS.includes(one) : /^\d{1,2}$/.test(one) && Number(one) >= from && Number(one) <= to;
  if (valuesIn(text).every(isValue)) return undefined;
  const values = name === 'day_of_week' ? WEEKDAYS.join(', ') : `numbers from ${from} to ${to}`;
  return `Must be * or a list with commas of ${values}.`;
}

function isZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

/** Making one takes a hundred times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>();
const MOST_FORMATS = 100;

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  if (formats.size >= MOST_FORMATS) formats.clear();
  formats.set(zone, made);
  return made;
}

/** Returns the time on the wall of that zone, such as `2026-03-29 03:00:00`. */
export const wallTime = (at: Date, zone: string): string => formatOf(zone).format(at);

/** Whether the wall has shown the same time before, since the clocks were set back. */
function comesAgain(at: Date, zone: string): boolean {
  const wall = wallTime(at, zone);
  return SET_BACK_MINUTES.some((minutes) => wallTime(earlier(at, minutes), zone) === wall);
}

const earlier = (at: Date, minutes: number) => new Date(at.getTime() - minutes * MINUTE_MS);

const DAY_MS = 24 * 60 * MINUTE_MS;
/** Returns the day of the wall's calendar as a time in UTC. */
const dayOf = (wall: string): number => Date.parse(`${wall.slice(0, 10)}T00:00:00Z`);
/** 0 for Monday. */
const weekdayOf = (day: number): number => (new Date(day).getUTCDay() + 6) % 7;

function isoWeek(day: number): number {
  // A week belongs to the year of its Thursday.
  const thursday = day + (3 - weekdayOf(day)) * DAY_MS;
  const year = Date.UTC(new Date(thursday).getUTCFullYear(), 0, 1);
  return Math.floor((thursday - year) / WEEK_MS) + 1;
}

/** Returns the second before the next of these weeks begins. */
function beforeWeek(weeks: ReadonlySet<number>, at: Date, zone: string): Date {
  const wallMs = (time: Date) => Date.parse(`${wallTime(time, zone).replace(' ', 'T')}Z`);
  const day = dayOf(wallTime(at, zone));
  let monday = day + (7 - weekdayOf(day)) * DAY_MS;
  while (!weeks.has(isoWeek(monday))) monday += WEEK_MS;
  const about = new Date(at.getTime() + monday - wallMs(at));
  // The clocks may be changed until then.
  return new Date(about.getTime() + monday - wallMs(about) - 1_000);
}
