import fs from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { catalogWithQuotas } from '../../../../test/support/catalogs.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const catalog = catalogWithQuotas({ laas_topic_count: 3 });
let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_CATALOG_DIR: catalog });
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(catalog, { recursive: true });
});

it('gives the last topics of an account to some of many that want them in two projects', async () => {
  const { http } = service;
  const made = await http.post('/cloud/v1/projects', { name: 'second' });
  const bases = [1, made.body.id].map((project) => `/cloud/v1/laas/${project}/1`);
  for (const base of bases) await http.patch(`${base}/status`, { is_initialized: true });
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((name, index) => http.put(`${bases[index % 2]}/topics`, { name })),
  );
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 201, 201, 403, 403, 403]);
  const refused = answers.find(({ status }) => status === 403);
  expect(refused?.body).toEqual({ code: 403, message: expect.stringContaining('laas_topic_count') });

  const kept = answers.findIndex(({ status }) => status === 201);
  const change = { name: answers[kept]?.body.name, size_in_bytes: 5 };
  const changed = await http.put(`${bases[kept % 2]}/topics`, change);
  expect([changed.status, changed.body.size_in_bytes]).toEqual([201, 5]);
  expect((await http.put('/cloud/v1/laas/1/2/topics', { name: 'a' })).status).toBe(409);
  await http.patch('/cloud/v1/laas/1/2/status', { is_initialized: true });
  expect((await http.put('/cloud/v1/laas/1/2/topics', { name: 'elsewhere' })).status).toBe(201);
});
