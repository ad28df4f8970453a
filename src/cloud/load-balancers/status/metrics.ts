import { isoSeconds } from '../../../lib/timestamps.ts';
import type { MetricsQuestion } from './schema.ts';

const HOUR_MS = 3_600_000;
/** As many as a chart can show. */
const POINTS = 60;

/**
 * Returns the load at up to 60 times since the load balancer exists, oldest first. Nobody sends traffic through
 * simulated infrastructure, so it is idle; what is not known is null.
 */
export function idleMetrics({ time_unit, time_interval }: MetricsQuestion, createdAt: Date, now: Date) {
  const length = time_interval * (time_unit === 'day' ? 24 : 1) * HOUR_MS;
  const times = Array.from(
    { length: POINTS },
    (_, index) => now.getTime() - (length * (POINTS - 1 - index)) / POINTS,
  );
  return times
    .filter((time) => time >= createdAt.getTime())
    .map((time) => ({
      time: isoSeconds(new Date(time)),
      cpu_util: 0,
      memory_util: null,
      network_Bps_ingress: 0,
      network_Bps_egress: 0,
      network_pps_ingress: 0,
      network_pps_egress: 0,
    }));
}
