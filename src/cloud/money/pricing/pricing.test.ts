import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Decimal } from 'decimal.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../../test/support/service.ts';

const URL = '/cloud/v1/pricing/1/1/volumes';
const doc = await readFile('docs/billing.md', 'utf8');
const [terms = '', request = '', answer = ''] = [...doc.matchAll(/```(?:yaml|json)\n(.*?)```/gs)].map(
  ([, content]) => content,
);
const MANY_CLIENTS = Array.from({ length: 20 }, (_, index) => index + 2);

let catalog: string;
let service: TestService;
beforeAll(async () => {
  // The shipped catalogue with the terms of the example. Accounts after the first see no prices.
  catalog = await mkdtemp(path.join(tmpdir(), 'tradewind-prices-'));
  await cp('catalog', catalog, { recursive: true });
  const file = path.join(catalog, 'price-book.yaml');
  const book = await readFile(file, 'utf8');
  const hidden = MANY_CLIENTS.map((id) => `  - {client_id: ${id}, visibility: hide}\n`);
  await writeFile(file, book.replace(/^clients: .*$/m, terms + hidden.join('')));
  service = await startService({ TRADEWIND_CATALOG_DIR: catalog });
});
afterAll(async () => {
  await service?.stop();
  await rm(catalog, { recursive: true });
});

const preview = (body: object, url = URL) => service.http.post(url, body);
const noAmounts = {
  discount_percent: null,
  price_per_hour: null,
  price_per_month: null,
  price_without_discount_per_month: null,
};

describe('the example of docs/billing.md', () => {
  test('is what the service answers, under both base addresses', async () => {
    for (const url of [URL, `/gcore${URL}`]) {
      const { status, body } = await preview(JSON.parse(request), url);
      expect(status).toBe(200);
      expect(body).toEqual(JSON.parse(answer));
    }
  });

  test('adds up, line by line', () => {
    const lines = [...doc.matchAll(/^ {4}([\d.]+) × ([\d.]+) = ([\d.]+)$/gm)];
    expect(lines).toHaveLength(5);
    for (const [, a = '', b = '', result = ''] of lines) {
      expect(new Decimal(a).times(b).toString()).toBe(result);
    }
  });
});

describe('the price', () => {
  test('of an image has the type standard, as of a new volume', async () => {
    const fromImage = await preview({ source: 'image', size: 100, snapshot_id: null, type_name: null });
    expect(fromImage.body).toEqual(JSON.parse(answer));
  });

  test.each([
    ['a type without a price', '/cloud/v1/pricing/1/2/volumes', 'ssd_lowlatency'],
    ['a type that the region does not offer', '/cloud/v1/pricing/1/3/volumes', 'ultra'],
  ])('of %s is an error that the answer tells', async (_what, url, type) => {
    const { status, body } = await preview({ source: 'new-volume', size: 1, type_name: type }, url);
    expect(status).toBe(200);
    expect(body).toEqual({ ...noAmounts, currency_code: 'EUR', tax_percent: 17, price_status: 'error' });
  });

  test('is hidden from an account that sees none', async () => {
    const tenant = await service.otherTenant();
    const url = `/cloud/v1/pricing/${tenant.projectId}/1/volumes`;
    const { status, body } = await tenant.http.post(url, { source: 'new-volume', size: 1 });
    expect(status).toBe(200);
    expect(body).toEqual({ ...noAmounts, currency_code: 'EUR', tax_percent: 17, price_status: 'hide' });
  });

  test('may be asked by any role of the account', async () => {
    const user = await service.withRole('Users');
    expect((await user.post(URL, JSON.parse(request))).body).toEqual(JSON.parse(answer));
  });
});

describe('the price of a volume made from a snapshot', () => {
  let snapshotId: string;
  beforeAll(async () => {
    const made = async (path: string, body: object, kind: string) => {
      const { status, text, body: tasks } = await service.http.post(`/cloud/v1/${path}/1/1`, body);
      expect(status, text).toBe(200);
      return (await service.http.task(tasks[0])).created_resources[kind][0];
    };
    const volume = { source: 'new-volume', name: 'disk', size: 7, type_name: 'ssd_hiiops' };
    const volumeId = await made('volumes', volume, 'volumes');
    snapshotId = await made('snapshots', { volume_id: volumeId, name: 'copy' }, 'snapshots');
  });

  test('has the size and type of the snapshot', async () => {
    const expected = await preview({ source: 'new-volume', size: 7, type_name: 'ssd_hiiops' });
    for (const extra of [{}, { size: 7 }, { size: null, type_name: null }]) {
      const { status, body } = await preview({ source: 'snapshot', snapshot_id: snapshotId, ...extra });
      expect(status).toBe(200);
      expect(body).toEqual(expected.body);
    }
  });

  test('may have another type, but no other size', async () => {
    const expected = await preview({ source: 'new-volume', size: 7, type_name: 'standard' });
    const request = { source: 'snapshot', snapshot_id: snapshotId };
    expect((await preview({ ...request, type_name: 'standard' })).body).toEqual(expected.body);
    const refused = await preview({ ...request, size: 8 });
    expect(refused.status).toBe(400);
    expect(Object.keys(refused.body.invalid_fields)).toEqual(['size']);
  });

  test('is not told to another account or in another region', async () => {
    const { http, projectId } = await service.otherTenant();
    const request = { source: 'snapshot', snapshot_id: snapshotId };
    expect((await http.post(`/cloud/v1/pricing/${projectId}/1/volumes`, request)).status).toBe(404);
    expect((await preview(request, '/cloud/v1/pricing/1/2/volumes')).status).toBe(404);
  });
});

describe('refused', () => {
  test.each<[body: object, field: string]>([
    [{}, 'source'],
    [{ source: 'disk', size: 1 }, 'source'],
    [{ source: 'new-volume' }, 'size'],
    [{ source: 'image', size: null }, 'size'],
    [{ source: 'new-volume', size: 0 }, 'size'],
    [{ source: 'new-volume', size: 102_401 }, 'size'],
    [{ source: 'new-volume', size: '10' }, 'size'],
    [{ source: 'new-volume', size: 1.5 }, 'size'],
    [{ source: 'new-volume', size: 1, type_name: 'fast' }, 'type_name'],
    [{ source: 'new-volume', size: 1, snapshot_id: randomUUID() }, 'snapshot_id'],
    [{ source: 'snapshot' }, 'snapshot_id'],
    [{ source: 'snapshot', snapshot_id: '' }, 'snapshot_id'],
    [{ source: 'new-volume', size: 1, colour: 'red' }, 'colour'],
  ])('%j', async (body, field) => {
    const answered = await preview(body);
    expect(answered.status).toBe(400);
    expect(answered.body).toMatchObject({ exception_class: 'ValidationError' });
    expect(Object.keys(answered.body.invalid_fields)).toEqual([field]);
  });

  test.each([randomUUID(), 'no-uuid'])('the unknown snapshot %s', async (id) => {
    const { status, body } = await preview({ source: 'snapshot', snapshot_id: id });
    expect(status).toBe(404);
    expect(body).toMatchObject({ exception_class: 'NotFoundError', message: `Snapshot ${id} not found` });
  });

  test('in an unknown region', async () => {
    expect((await preview(JSON.parse(request), '/cloud/v1/pricing/1/99/volumes')).status).toBe(404);
  });
});
