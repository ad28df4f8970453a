import { type Static, Type } from 'typebox';
import { isoSeconds } from './time.ts';
import { Input } from './wire.ts';

/** How far back the load of something is asked for, and at most. */
export const metricsQuestion = (name: string, most: number, description = 'How far back to look') =>
  Input(
    name,
    {
      time_unit: Type.Enum(['day', 'hour'], {
        type: 'string',
        description: 'Unit of the interval',
        examples: ['hour'],
      }),
      time_interval: Type.Integer({ minimum: 1, maximum: most, description, examples: [6] }),
    },
    { time_unit: 'hour', time_interval: 6 },
  );
export const MetricsQuestion = metricsQuestion('MetricsQuestion', 720);
export type MetricsQuestion = Static<typeof MetricsQuestion>;

const HOUR_MS = 3_600_000;
/** As many as a chart can show. */
const POINTS = 60;

/** Returns the times of up to 60 points of the interval since something is there, oldest first. */
export function idleTimes({ time_unit, time_interval }: MetricsQuestion, since: Date, now: Date): string[] {
  const length = time_interval * (time_unit === 'day' ? 24 : 1) * HOUR_MS;
  return Array.from(
    { length: POINTS },
    (_, index) => now.getTime() - (length * (POINTS - 1 - index)) / POINTS,
  )
    .filter((time) => time >= since.getTime())
    .map((time) => isoSeconds(new Date(time)));
}
