import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { RequestDurations } from './request-durations.ts';

const GET = { method: 'GET', route: '/cloud/v1/projects', status: '200' };
const POST = { method: 'POST', route: '/a "quoted" \\ one', status: '201' };

test('is written and read like a histogram of the library that saw the same', async () => {
  const registries = [new Registry(), new Registry()] as const;
  const durations = new RequestDurations(registries[0]);
  const { name, help } = await durations.get();
  const plain = new Histogram({
    name,
    help,
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registries[1]],
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
  expect(await registries[0].metrics()).toBe(await registries[1].metrics());
  expect((await durations.get()).values).toEqual(
    (await plain.get()).values.map(({ exemplar: _, ...value }: object & { exemplar?: unknown }) => value),
  );
});
