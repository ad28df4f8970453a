import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { RequestDurations } from './request-durations.ts';

const GET = { method: 'GET', route: '/cloud/v1/projects', status: '200' };
const POST = { method: 'POST', route: '/a "quoted" \\ one', status: '201' };

test('is written like a histogram of the library that saw the same', async () => {
  const registry = new Registry();
  const durations = new RequestDurations();
  const plain = new Histogram({
    name: 'tradewind_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  for (const [labels, seconds] of [
    [GET, [0, 0.001, 0.0011, 0.03, 0.03, 0.9, 5, 5.5, 1000]],
    [POST, [0.25, 0.26]],
  ] as const) {
    const count = durations.newSeries(labels);
    for (const each of seconds) {
      count(each);
      plain.observe(labels, each);
    }
  }
  expect(durations.text()).toBe(await registry.metrics());
});
