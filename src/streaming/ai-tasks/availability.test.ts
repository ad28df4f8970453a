import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../test/support/service.ts';
import { packageRoot } from '../../lib/package-root.ts';

const url = 'https://media.example.com/a.mp4';
const catalog = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-catalog-'));
let service: TestService;

beforeAll(async () => {
  fs.cpSync(path.join(packageRoot, 'catalog'), catalog, { recursive: true });
  const file = path.join(catalog, 'features.yaml');
  const features = fs.readFileSync(file, 'utf8');
  const kept = features.replace(/(name: Speech transcription.*)\}/, '$1, needed_for: transcription}');
  if (kept === features) throw new Error('The feature is not where this test looks for it');
  fs.writeFileSync(file, kept);
  service = await startService({ TRADEWIND_CATALOG_DIR: catalog });
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(catalog, { recursive: true });
});

test('what the catalogue keeps for a feature is open to the accounts that have it', async () => {
  const { http, clientId } = await service.otherTenant();
  const create = (body: object) => http.post('/streaming/ai/tasks', { url, ...body });
  const info = () => http.get('/streaming/ai/info?type=language_support&audio_language=eng');
  const refusal = { error: expect.stringContaining('feature that this account does not have') };

  const refused = await create({ task_name: 'transcription' });
  expect([refused.status, refused.body]).toEqual([422, refusal]);
  expect([(await info()).status, (await info()).body]).toEqual([422, refusal]);
  expect((await create({ task_name: 'content-moderation', category: 'nsfw' })).status).toBe(201);

  const [feature] = (await service.http.get('/iam/admin/feature')).body.filter(
    ({ name }: { name: string }) => name === 'Speech transcription',
  );
  expect(feature).not.toHaveProperty('needed_for');
  await service.http.post('/iam/admin/paid_features', { client_id: clientId, feature_id: feature.id });
  expect((await create({ task_name: 'transcription' })).status).toBe(201);
  expect((await info()).status).toBe(200);
});

test('a task that no running engine can do says what it waits for', async () => {
  const { body } = await service.http.post('/streaming/ai/tasks', {
    url,
    task_name: 'content-moderation',
    category: 'nsfw',
  });
  const path = `/streaming/ai/tasks/${body.task_id}`;
  const waiting = await service.http.get(path);
  expect(waiting.body).toMatchObject({ status: 'PENDING', result: null });
  expect(waiting.body.waiting_for).toMatch(/^content-moderation, nsfw: no engine .*npx tradewind doctor/);
  await service.http.post(`${path}/cancel`);
  expect((await service.http.get(path)).body).not.toHaveProperty('waiting_for');
});
