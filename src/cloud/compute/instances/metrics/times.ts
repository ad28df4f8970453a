import { InvalidError } from '../../../../lib/errors.ts';
import type { InstanceMetricsQuestion } from './schema.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The published intervals in hours, and the time between two points. */
const STEPS = new Map([
  [1, 15_000],
  [6, 20_000],
  [24, 2 * MINUTE_MS],
  [7 * 24, 10 * MINUTE_MS],
  [14 * 24, 20 * MINUTE_MS],
]);

/** The times of a series of points. */
export interface Times {
  from: Date;
  to: Date;
  stepMs: number;
}

/**
 * Returns the times to look at, none of them before the machine was there; undefined if there are none. They are
 * multiples of the step, so that a later question has the same times.
 * @throws InvalidError for other intervals
 */
export function timesOf(
  { time_unit, time_interval }: InstanceMetricsQuestion,
  { createdAt, now }: { createdAt: Date; now: Date },
): Times | undefined {
  const hours = time_interval * (time_unit === 'day' ? 24 : 1);
  const stepMs = STEPS.get(hours);
  if (stepMs === undefined) {
    throw new InvalidError({ time_interval: ['Only 1, 6 and 24 hours and 7 and 14 days are possible.'] });
  }
  const to = Math.floor(now.getTime() / stepMs) * stepMs;
  const created = Math.ceil(createdAt.getTime() / stepMs) * stepMs;
  const from = Math.max(to - hours * HOUR_MS + stepMs, created);
  return from > to ? undefined : { from: new Date(from), to: new Date(to), stepMs };
}
