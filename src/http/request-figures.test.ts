import { Counter, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { RequestFigures } from './metrics.ts';

const GET = { method: 'GET', route: '/cloud/v1/projects' };
const POST = { method: 'POST', route: '/a "quoted" \\ one' };

test('are written like the metrics of the library that saw the same', async () => {
  const registry = new Registry();
  const registers = [registry];
  const figures = new RequestFigures();
  const durations = new Histogram({
    name: 'tradewind_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its answer',
    labelNames: ['method', 'route'],
    buckets: [0.0025, 0.01, 0.05, 0.25, 1, 5],
    registers,
  });
  const requests = new Counter({
    name: 'tradewind_http_requests_total',
    help: 'Requests by the first digit of the status of their answer',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const answers = new Counter({
    name: 'tradewind_http_answers_total',
    help: 'Answers by status',
    labelNames: ['status'],
    registers,
  });
  for (const [labels, seen] of [
    [GET, { 200: [0, 0.0025, 0.0026, 0.03, 0.03, 0.9, 5], 404: [5.5, 1000], 503: [0.01] }],
    [POST, { 200: [0.06], 201: [0.25, 0.26], 429: [1] }],
  ] as const) {
    const count = figures.newSeries(labels);
    for (const [status, all] of Object.entries(seen)) {
      for (const seconds of all) {
        count(seconds, Number(status));
        durations.observe(labels, seconds);
        requests.inc({ ...labels, status: `${status[0]}xx` });
        answers.inc({ status });
      }
    }
  }
  expect(figures.text()).toBe(await registry.metrics());
});
