/** A period that includes its start and excludes its end, both ISO 8601 in UTC with microseconds. */
export interface Interval {
  from: string;
  to: string;
  /** The date, if the period is exactly one day in UTC. */
  day?: string;
}

// An unescaped "+" in a query string arrives as a space; Python prints a space instead of the "T".
const FORM =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[Tt ](\d{2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?(?:[Zz]|([+\- ])(\d{2}):?(\d{2})?)?)?)?)?$/;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** PostgreSQL has no year 0. */
const EARLIEST = atUtc(1, 1, 1);

/**
 * Returns the interval that an ISO 8601 date or time names: `2026` a year, `2026-11` a month, `2026-11-21` a
 * day, `2026-11-21T10` an hour, then a minute, a second, and fractions of it down to the microsecond. UTC
 * unless a time has an offset. Undefined for anything else, and for days and times that don't exist.
 */
export function isoInterval(text: string): Interval | undefined {
  const match = FORM.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHours, offsetMinutes] = match;
  const start = atUtc(Number(year), Number(month ?? 1), Number(day ?? 1));
  if (start === undefined || start < (EARLIEST ?? 0)) return undefined;
  if (month === undefined) return interval(start, atUtc(Number(year) + 1, 1, 1) ?? start);
  if (day === undefined) return interval(start, nextMonth(Number(year), Number(month)));
  if (hour === undefined) return { ...interval(start, start + DAY), day: text };
  const hours = clockMs(hour, minute, second);
  const ahead = clockMs(offsetHours, offsetMinutes);
  if (hours === undefined || ahead === undefined) return undefined;
  const time = start + hours - (sign === '-' ? -ahead : ahead);
  if (minute === undefined) return interval(time, time + HOUR);
  if (second === undefined) return interval(time, time + MINUTE);
  if (fraction === undefined) return interval(time, time + 1000);
  const digits = Math.min(fraction.length, 6);
  const micros = Number(fraction.slice(0, digits).padEnd(6, '0'));
  return interval(time, time, micros, micros + 10 ** (6 - digits));
}

/** Returns a valid time of day in milliseconds since midnight. */
function clockMs(hour = '0', minute = '0', second = '0'): number | undefined {
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  return Number(hour) * HOUR + Number(minute) * MINUTE + Number(second) * 1000;
}

/** Returns midnight of an existing day in milliseconds since 1970. */
function atUtc(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined;
}

function nextMonth(year: number, month: number): number {
  return atUtc(month === 12 ? year + 1 : year, month === 12 ? 1 : month + 1, 1) ?? 0;
}

function interval(from: number, to: number, fromMicros = 0, toMicros = 0): Interval {
  return { from: withMicros(from, fromMicros), to: withMicros(to, toMicros) };
}

function withMicros(millis: number, micros: number): string {
  const whole = new Date(Math.max(millis + Math.floor(micros / 1000), EARLIEST ?? 0)).toISOString();
  const rest = String(micros % 1000).padStart(3, '0');
  // Years after 9999 are written with a sign, which PostgreSQL doesn't read.
  return `${whole.replace(/^\+0?/, '').slice(0, -1)}${rest}Z`;
}
