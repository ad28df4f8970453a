import { expect, it } from 'vitest';
import { idleMetrics } from './metrics.ts';

const now = new Date('2026-05-23T12:00:00Z');

it('has up to 60 points of the interval, oldest first', () => {
  const points = idleMetrics({ time_unit: 'hour', time_interval: 1 }, new Date(0), now);
  expect(points).toHaveLength(60);
  expect([points[0]?.time, points.at(-1)?.time]).toEqual(['2026-05-23T11:01:00Z', '2026-05-23T12:00:00Z']);
  const days = idleMetrics({ time_unit: 'day', time_interval: 30 }, new Date(0), now);
  expect(days[0]?.time).toBe('2026-04-24T00:00:00Z');
});

it('begins with the load balancer', () => {
  const made = new Date('2026-05-23T11:58:30Z');
  expect(idleMetrics({ time_unit: 'hour', time_interval: 1 }, made, now).map(({ time }) => time)).toEqual([
    '2026-05-23T11:59:00Z',
    '2026-05-23T12:00:00Z',
  ]);
});
