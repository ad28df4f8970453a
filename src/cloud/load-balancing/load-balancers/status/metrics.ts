import { idleTimes, type MetricsQuestion } from '../../../../lib/idle-times.ts';

/**
 * Returns the load since the load balancer exists, oldest first. Nobody sends traffic through simulated
 * infrastructure, so it is idle; what is not known is null.
 */
export function idleMetrics(question: MetricsQuestion, createdAt: Date, now: Date) {
  return idleTimes(question, createdAt, now).map((time) => ({
    time,
    cpu_util: 0,
    memory_util: null,
    network_Bps_ingress: 0,
    network_Bps_egress: 0,
    network_pps_ingress: 0,
    network_pps_egress: 0,
  }));
}
