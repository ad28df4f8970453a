import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Type } from 'typebox';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { changedCatalog } from '../../test/support/catalogs.ts';
import { SOON } from '../../test/support/http-client.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { CatalogError } from '../cloud/ground/catalog/faults.ts';
import { loadCatalog } from '../cloud/ground/catalog/service.ts';
import { loadConfig } from '../config.ts';
import { backendFindings } from '../start/catalog-checks.ts';
import { MAKERS } from '../start/from-settings.ts';
import { createBackends } from './backends.ts';
import { type Backend, type Json, Unavailable } from './contract/backend.ts';
import type { Makers } from './maker.ts';

/** A backend that keeps file shares in memory. Tests can look into it, break it and tamper with it. */
const shelf = {
  things: new Map<string, object>(),
  strays: new Map<string, Json>(),
  /** What the state of each looks like. */
  seen: new Map<string, string>(),
  doubled: new Set<string>(),
  trouble: undefined as string | undefined,
  hanging: false,
  forgetful: false,
};
const makers: Makers = {
  ...MAKERS,
  shelf: {
    settings: Type.Object({ largest: Type.Integer() }, { additionalProperties: false }),
    secrets: ['password'],
    make({ settings, secrets }): Backend {
      const { largest } = settings as { largest: number };
      return {
        problems: (_kind, spec) =>
          'sizeGib' in spec && spec.sizeGib > largest
            ? [{ field: 'size', message: `Must be at most ${largest}.` }]
            : [],
        async converge({ id }, spec) {
          if (shelf.trouble !== undefined) throw new Unavailable(shelf.trouble, { retryAfterMs: 100 });
          if (spec === null) shelf.things.delete(id);
          else shelf.things.set(id, spec);
          shelf.seen.set(id, 'as wanted');
          shelf.doubled.delete(id);
          const observed = spec && { connectionPoint: `shelf/${secrets.password}/${id}` };
          return { state: 'settled', observed: observed as never, handle: { seen: 'as wanted' } };
        },
        observe: async ({ id }) => (shelf.things.has(id) ? ({ connectionPoint: '' } as never) : null),
        async *list() {
          if (shelf.forgetful) throw new Unavailable('the list is lost');
          const ids = [...new Set([...shelf.things.keys(), ...shelf.strays.keys()]), ...shelf.doubled];
          for (const id of ids) {
            const handle = shelf.strays.get(id) ?? { seen: shelf.seen.get(id) ?? '' };
            yield { kind: 'file_share', id, handle };
          }
        },
        health: async () => (shelf.hanging ? new Promise<never>(() => {}) : shelf.trouble),
      };
    },
  },
};

const folder = changedCatalog('regions.yaml', ({ regions = [] }) => ({
  regions: regions.map((region) => ({ ...region, backends: { file_share: 'cellar' } })),
}));
const password = path.join(folder, 'password');
fs.writeFileSync(password, 'sesame\n', { mode: 0o600 });

function describeBackends(cellar: object, file = folder): void {
  const given = {
    name: 'cellar',
    kind: 'shelf',
    settings: { largest: 10 },
    secrets: { password },
    ...cellar,
  };
  const backends = [{ name: 'simulated', kind: 'simulated' }, given];
  fs.writeFileSync(path.join(file, 'backends.yaml'), stringify({ backends }));
}
describeBackends({});

let service: TestService;
beforeAll(async () => {
  shelf.trouble = 'the cellar is flooded';
  const settings = {
    TRADEWIND_CATALOG_DIR: folder,
    TRADEWIND_COMPARE_SECONDS: '1',
    TRADEWIND_LOG_LEVEL: 'silent',
  };
  service = await startService(settings, { makers });
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const BASE = '/cloud/v1/file_shares/1/1';
const create = (size = 1) => service.http.post(BASE, { name: 'kept', protocol: 'NFS', size });
const metrics = async () => (await service.http.get('/metrics')).text;
async function share(): Promise<string> {
  const answer = await create();
  expect(answer.status, answer.text).toBe(200);
  return (await service.http.task(answer.body[0])).created_resources.file_shares[0];
}

it('one that is not well is told of by the process, which accepts work for it all the same', async () => {
  const ready = await service.http.get('/readyz');
  expect([ready.status, ready.body.degraded]).toEqual([200, { 'backend cellar': 'the cellar is flooded' }]);
  expect(await metrics()).toMatch(/^tradewind_backend_up\{backend="cellar"\} 0$/m);
  const accepted = await create();
  expect(accepted.status, accepted.text).toBe(200);
  shelf.trouble = undefined;
  expect(await service.http.task(accepted.body[0])).toMatchObject({ state: 'FINISHED' });
  await vi.waitFor(async () => expect((await service.http.get('/readyz')).body.degraded).toEqual({}), SOON);
  expect(await metrics()).toMatch(/^tradewind_backend_up\{backend="cellar"\} 1$/m);
});

it('has what its region gives it, with its settings and secrets, and no more', async () => {
  const id = await share();
  expect(shelf.things.has(id)).toBe(true);
  const { body } = await service.http.get(`${BASE}/${id}`);
  expect(body.connection_point).toBe(`shelf/sesame/${id}`);
  const refused = await create(11);
  expect([refused.status, refused.body.invalid_fields]).toEqual([400, { size: ['Must be at most 10.'] }]);
  const volume = await service.http.post('/cloud/v1/volumes/1/1', {
    source: 'new-volume',
    name: 'disk',
    size: 20,
  });
  expect((await service.http.task(volume.body[0])).state).toBe('FINISHED');
  const { rows } = await service.pool.query(
    `select distinct kind from simulated_objects where kind in ('volume', 'file_share')`,
  );
  expect(rows).toEqual([{ kind: 'volume' }]);
});

it('keeps what nobody wants where an operator decides, and that is counted', async () => {
  const stray = randomUUID();
  shelf.things.set(stray, {});
  const counted = /^tradewind_orphans\{backend="cellar",kind="file_share"\} 1$/m;
  await vi.waitFor(async () => expect(await metrics()).toMatch(counted), SOON);
  expect(shelf.things.has(stray)).toBe(true);
  shelf.things.delete(stray);
  await vi.waitFor(async () => expect(await metrics()).not.toContain('tradewind_orphans{'), SOON);
});

it('brings back what is listed and not there', async () => {
  const id = await share();
  shelf.strays.set(id, null);
  shelf.things.delete(id);
  await vi.waitFor(() => expect(shelf.things.has(id)).toBe(true), SOON);
  const drift = /^tradewind_drift_total\{backend="cellar",kind="file_share"\} 1$/m;
  await vi.waitFor(async () => expect(await metrics()).toMatch(drift), SOON);
  shelf.strays.clear();
});

it('is asked again about what is listed otherwise than it was left, or twice', async () => {
  const id = await share();
  shelf.seen.set(id, 'somebody was here');
  await vi.waitFor(() => expect(shelf.seen.get(id)).toBe('as wanted'), SOON);
  shelf.doubled.add(id);
  await vi.waitFor(() => expect(shelf.doubled.size).toBe(0), SOON);
});

it('doctor names one that is not well or gives no answer', async () => {
  const config = loadConfig({ TRADEWIND_DATA_DIR: path.join(folder, 'nowhere') });
  const catalog = await loadCatalog(folder, makers);
  const findings = () => backendFindings(config, catalog, makers);
  const simulated = { what: 'Backend simulated', state: 'ok', detail: 'of the kind simulated' };
  expect(await findings()).toEqual([simulated, { what: 'Backend cellar', state: 'ok', detail: 'of the kind shelf' }]);
  shelf.hanging = true;
  const detail = expect.stringContaining('does not answer');
  expect(await findings()).toEqual([simulated, { what: 'Backend cellar', state: 'missing', detail }]);
  shelf.hanging = false;
});

it('doctor names one that can not say what it has', async () => {
  const config = loadConfig({ DATABASE_URL: service.pool.options.connectionString });
  const catalog = await loadCatalog(folder, makers);
  const cellar = async () => (await backendFindings(config, catalog, makers))[1];
  expect(await cellar()).toMatchObject({ state: 'ok', detail: 'of the kind shelf' });
  shelf.forgetful = true;
  expect(await cellar()).toMatchObject({
    state: 'limited',
    detail: 'of the kind shelf; it could not list its resources: the list is lost',
  });
  shelf.forgetful = false;
});

it('stays as it is in another catalogue that says the same of it, and is made anew otherwise', async () => {
  const other = fs.mkdtempSync(path.join(folder, 'other-'));
  fs.cpSync('catalog', other, { recursive: true });
  fs.cpSync(path.join(folder, 'regions.yaml'), path.join(other, 'regions.yaml'));
  const read = async (cellar: object) => {
    describeBackends(cellar, other);
    return loadCatalog(other, makers);
  };
  const backends = createBackends(makers, {
    sql: undefined as never,
    secrets: undefined as never,
    simulationSpeed: 1,
    dataDir: folder,
    kubernetesDir: folder,
    searchPath: '',
  });
  backends.adopt(await read({}));
  const [first, network] = [backends.of(1, 'file_share'), backends.of(1, 'network')];
  backends.adopt(await read({ settings: { largest: 5 } }));
  expect(backends.of(1, 'file_share')).not.toBe(first);
  expect(backends.of(1, 'network')).toBe(network);
  expect(() => backends.of(9, 'network')).toThrow(Unavailable);

  fs.chmodSync(password, 0o644);
  const changed = await read({ settings: { largest: 6 } });
  const second = backends.of(1, 'file_share');
  expect(() => backends.adopt(changed)).toThrow(/^backends\.yaml: secret password of backend cellar: .*chmod 600/);
  expect(backends.of(1, 'file_share')).toBe(second);
  fs.chmodSync(password, 0o600);
  const missing = await read({ secrets: { password: '/nowhere/password' } });
  expect(() => backends.adopt(missing)).toThrow(/\/nowhere\/password can't be read \(ENOENT\)/);

  for (const [cellar, fault] of [
    [
      { kind: 'cupboard' },
      'backends, entry 2, kind: is "cupboard". Use one of: simulated, hosted, cluster-api, openstack, shelf.',
    ],
    [{ settings: { largest: 'all' } }, 'backends, entry 2, settings.largest: must be a whole number'],
    [{ settings: { largest: 1, smallest: 1 } }, 'backends, entry 2, settings.smallest: is unknown'],
    [{ secrets: {} }, 'backends, entry 2, secrets.password: is missing. Add it.'],
    [{ secrets: { password, key: password } }, 'backends, entry 2, secrets.key: is unknown'],
    [{ secrets: { password: 'sesame' } }, 'Use the absolute path of the file'],
    [{ name: 'simulated' }, 'backends, entry 2, name: is simulated, which entry 1 already has.'],
  ] as const) {
    const error = await read(cellar).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CatalogError);
    expect((error as Error).message).toMatch(/ {2}backends\.yaml:\d+ /);
    expect((error as Error).message).toContain(fault);
  }
});
