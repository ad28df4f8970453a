import { Histogram, type Registry } from 'prom-client';

/** What workers measure of what they send to webhooks. */
export interface SendingMeasures {
  /** An attempt has ended. `refused`: the receiver gave another answer than 2xx. `failed`: there was none. */
  attempted(attempt: { outcome: 'delivered' | 'refused' | 'failed'; seconds: number }): void;
}

const BUCKETS = [0.01, 0.05, 0.25, 1, 2.5, 5, 10];

export function createSendingMeasures(registry: Registry): SendingMeasures {
  const attempts = new Histogram({
    name: 'tradewind_webhook_attempt_duration_seconds',
    help: 'Attempts to send an event to a webhook',
    labelNames: ['outcome'],
    buckets: BUCKETS,
    registers: [registry],
  });
  return { attempted: ({ outcome, seconds }) => attempts.observe({ outcome }, seconds) };
}
