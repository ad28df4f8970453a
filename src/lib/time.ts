import { InvalidError } from './errors.ts';

/** How the API writes times. All are UTC; each resource's schema determines which form it uses. */

export const MOMENT_RULE = 'Must be a valid date-time, such as 2030-12-31T23:59:59Z.';

/**
 * `2019-06-18T11:56:16`, in UTC without an offset: tasks, `created_on` of regions. Fractions of a second are cut off.
 */
export function plainSeconds(date: Date): string {
  return secondsOf(date);
}

/** `2019-06-18T11:56:16+0000`: security groups, networks, volumes, images. Fractions of a second are cut off. */
export function offsetTimestamp(date: Date): string {
  return `${secondsOf(date)}+0000`;
}

/** `2019-06-18T11:56:16Z`: clusters, instances, ports, SSH keys, projects. Fractions of a second are cut off. */
export function isoSeconds(date: Date): string {
  return `${secondsOf(date)}Z`;
}

/** `2019-06-18T11:56:16+00:00`: secrets. Fractions of a second are cut off. */
export function colonTimestamp(date: Date): string {
  return `${secondsOf(date)}+00:00`;
}

/** `2019-06-18 11:56 UTC`: mails. */
export function forPeople(date: Date): string {
  return `${secondsOf(date).slice(0, 16).replace('T', ' ')} UTC`;
}

/**
 * `2019-06-18T11:56:16.123000Z`: AI tasks, tokens, features. A Date has milliseconds, so the last three digits are 0.
 */
export function isoMicros(date: Date): string {
  return `${date.toISOString().slice(0, -1)}000Z`;
}

/** `2019-06-18T11:56:16.123000`: file shares. Clients refuse an offset there. */
export function microsWithoutZone(date: Date): string {
  return isoMicros(date).slice(0, -1);
}

// The times in one answer are mostly the same, and formatting is the most expensive part.
let lastSecond = Number.NaN;
let lastText = '';

function secondsOf(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== lastSecond) {
    lastText = date.toISOString().slice(0, -5);
    lastSecond = second;
  }
  return lastText;
}

/** The time of day, injected so that tests can set it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

const SECOND = 1_000;

/**
 * Returns a request's date-time as a Date. A leap second is well-formed, but no Date can hold it.
 * @throws InvalidError
 */
export function momentIn(field: string, text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new InvalidError({ [field]: [MOMENT_RULE] });
  return date;
}

/**
 * Returns the time in a query field; without an offset it is UTC.
 * @throws InvalidError for a time that does not exist
 */
export function calendarTime(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const date = new Date(/([Zz]|[+-]\d{2}:?\d{2})$/.test(text.slice(19)) ? text : `${text}Z`);
  if (Number.isNaN(date.getTime()) || !isDay(text.slice(0, 10)) || !hasYear(date)) {
    throw new InvalidError([{ field, message: 'There is no such date and time in the calendar.' }]);
  }
  return date;
}

/** The database has no year 0, and an offset may lead out of the years of four digits. */
function hasYear(date: Date): boolean {
  const year = date.getUTCFullYear();
  return year > 0 && year < 10_000;
}

/** `Date` reads 31 February as 3 March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** Returns the whole second that a time is in. */
export const secondOf = (time: Date): Date => new Date(Math.floor(time.getTime() / SECOND) * SECOND);

/**
 * Returns the first moment after a time. Answers show whole seconds, so a time without a fraction stands for
 * its whole second.
 */
export function afterTime(date: Date | undefined): Date | undefined {
  return date && new Date(date.getTime() + (date.getTime() % SECOND === 0 ? SECOND : 1));
}

/** Returns the period that a list is limited to: from the first time, and before the second. @throws InvalidError */
export function periodOf(query: { from_timestamp?: string; to_timestamp?: string }): Period {
  return periodIn(query, 'from_timestamp', 'to_timestamp');
}

interface Period {
  from: Date | undefined;
  before: Date | undefined;
}

/** The same for fields with other names. @throws InvalidError */
export function periodIn<From extends string, To extends string>(
  query: Partial<Record<From | To, string>>,
  from: From,
  to: To,
): Period {
  return {
    from: calendarTime(from, query[from]),
    before: afterTime(calendarTime(to, query[to])),
  };
}
