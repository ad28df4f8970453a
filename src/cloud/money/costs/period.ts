import { InvalidError } from '../../../lib/errors.ts';
import { calendarTime } from '../../../lib/time.ts';

export const DAY_MS = 86_400_000;

/** How long after the end of a day its traffic is awaited. Then the day is told and billed without it. */
export const TRAFFIC_AWAITED_MS = 24 * 3_600_000;
const MONTH = /^(\d{4})-(0[1-9]|1[0-2])/;

/** From the first moment until before the second. */
export interface ReportPeriod {
  from: Date;
  to: Date;
}

/** Returns full days in UTC. @throws InvalidError */
export function periodOfDays(
  request: { time_from: string; time_to: string; enable_last_day?: boolean },
  mostDays: number,
): ReportPeriod {
  const from = dayOf('time_from', request.time_from);
  const to = dayOf('time_to', request.time_to) + (request.enable_last_day ? DAY_MS : 0);
  if (to < from) throw new InvalidError({ time_to: ['Must not be before time_from.'] });
  if (to === from) {
    throw new InvalidError({
      time_to: [
        'Reports are of whole days in UTC, and both times are on the same one. Send enable_last_day for that day; GET /tradewind/v1/costs has the costs of hours.',
      ],
    });
  }
  if (to - from > mostDays * DAY_MS) {
    throw new InvalidError({ time_to: [`A report covers ${mostDays} days at most.`] });
  }
  return { from: new Date(from), to: new Date(to) };
}

/** Returns a month in UTC. Older clients name it by its beginning and end. @throws InvalidError */
export function periodOfMonth(request: { year_month?: string; time_from?: string; time_to?: string }): ReportPeriod {
  const { year_month, time_from, time_to } = request;
  if (year_month !== undefined && (time_from ?? time_to) !== undefined) {
    const field = time_from === undefined ? 'time_to' : 'time_from';
    throw new InvalidError({ [field]: ['Is not allowed together with year_month.'] });
  }
  const month = year_month ?? time_from;
  if (month === undefined) throw new InvalidError({ year_month: ['Is required.'] });
  const { from, to } = monthOf(month);
  if (year_month === undefined && time_to === undefined) {
    throw new InvalidError({ time_to: ['Is required with time_from.'] });
  }
  if (time_to !== undefined && monthOf(time_to).from.getTime() !== from.getTime()) {
    throw new InvalidError({ time_to: ['Must be in the month of time_from.'] });
  }
  return { from, to };
}

function dayOf(field: string, text: string): number {
  const moment = calendarTime(field, text);
  return moment ? startOfDay(moment).getTime() : 0;
}

/** Returns the beginning of the day in UTC. */
export const startOfDay = (time: Date | number): Date => new Date(Math.floor(Number(time) / DAY_MS) * DAY_MS);

function monthOf(text: string): ReportPeriod {
  const [, year, month] = MONTH.exec(text) ?? [];
  const [from, to] = [Number(month) - 1, Number(month)].map((index) => new Date(Date.UTC(Number(year), index)));
  if (!from || !to) throw new TypeError('a month has two ends');
  return { from, to };
}
