import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { changedCatalog } from '../../../../test/support/catalogs.ts';
import { createDatabase, type TestDatabase } from '../../../../test/support/databases.ts';
import { createHttpClient, type HttpClient, SOON } from '../../../../test/support/http-client.ts';
import { ENCRYPTION_KEY } from '../../../../test/support/secrets.ts';
import { loadConfig } from '../../../config.ts';
import { type Database, openDatabase } from '../../../db/database.ts';
import { systemClock } from '../../../lib/time.ts';
import { createLog } from '../../../log.ts';
import { catalogApply } from '../../../start/catalog-apply.ts';
import { type RunningPlatform, startPlatform } from '../../../start/platform.ts';
import { CatalogError } from './faults.ts';
import { agreeOnCatalog, BackendMovedError, CatalogDiffersError } from './in-force.ts';
import { loadCatalog } from './service.ts';

const TOKEN = `1_${'catalogue'.repeat(3)}`;
const VOLUME = { source: 'new-volume', size: 100, type_name: 'standard' };

/** Returns a catalogue in which accounts pay this tax by default. */
const taxed = (percent: string) =>
  changedCatalog('price-book.yaml', (book) => ({
    ...book,
    default_terms: { ...(book.default_terms as object), tax_percent: percent } as never,
  }));

/** Two regions can't have the same addresses. */
const NOWHERE = { external_network_id: null, external_networks: [] };

const folders = {
  usual: changedCatalog('features.yaml', (file) => file),
  untaxed: taxed('0'),
  wider: changedCatalog('regions.yaml', ({ regions = [] }) => ({
    regions: [...regions, { ...regions[2], ...NOWHERE, id: 4, slug: 'new', display_name: 'New', keystone_name: 'new' }],
  })),
  faulty: taxed('17 %'),
  moved: changedCatalog('regions.yaml', ({ regions = [] }) => ({
    regions: regions.map((region) => ({ ...region, backends: { storage: 'other', network: 'other' } })),
  })),
};
let empty: TestDatabase;
let database: Database;
let platforms: RunningPlatform[];

beforeEach(async () => {
  empty = await createDatabase();
  database = openDatabase({ connectionString: empty.url }, 2);
  platforms = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(platforms.map((platform) => platform.stop(1_000)));
  await database.close();
  await empty.drop();
});
beforeAll(() => {
  fs.writeFileSync(path.join(folders.usual, 'features.yaml'), reordered());
  const backends = ['simulated', 'other'].map((name) => `  - {name: ${name}, kind: simulated}\n`);
  fs.writeFileSync(path.join(folders.moved, 'backends.yaml'), `backends:\n${backends.join('')}`);
});
afterAll(() => {
  for (const folder of Object.values(folders)) fs.rmSync(folder, { recursive: true });
});

function reordered(): string {
  const text = fs.readFileSync('catalog/features.yaml', 'utf8');
  return `# A remark.\n${text}`;
}

function settings(folder: string) {
  return loadConfig({
    DATABASE_URL: empty.url,
    TRADEWIND_ENCRYPTION_KEY: ENCRYPTION_KEY,
    TRADEWIND_PORT: '0',
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_CATALOG_DIR: folder,
    TRADEWIND_DATA_DIR: path.join(os.tmpdir(), 'unused'),
    TRADEWIND_LOG_LEVEL: 'silent',
  });
}

async function start(folder: string): Promise<HttpClient> {
  const config = settings(folder);
  const platform = await startPlatform(config, 'api', createLog(config));
  platforms.push(platform);
  return createHttpClient(`http://127.0.0.1:${platform.address?.port}`, TOKEN);
}

/** Runs `tradewind catalog apply` and returns what it printed. */
async function apply(folder: string): Promise<string> {
  const told = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const code = await catalogApply.run({
    config: settings(folder),
    options: {},
    stop: new AbortController().signal,
  });
  expect(code).toBe(0);
  const [[text] = []] = told.mock.calls;
  told.mockRestore();
  return String(text);
}

async function taxOf(http: HttpClient): Promise<number> {
  const { body } = await http.post('/cloud/v1/pricing/1/1/volumes', VOLUME);
  return body.tax_percent;
}

it('is that of the first process; one that brings another does not start, and says which is which', async () => {
  const first = await start('catalog');
  const other = await loadCatalog(folders.untaxed);
  const error = await start(folders.untaxed).catch((fault: unknown) => fault);
  expect(error).toBeInstanceOf(CatalogDiffersError);
  const { message } = error as Error;
  for (const part of [folders.untaxed, other.hash.slice(0, 12), path.resolve('catalog'), 'catalog apply'])
    expect(message).toContain(part);
  // Another comment doesn't make it another catalogue.
  const second = await start(folders.usual);
  const ready = await Promise.all([first, second].map((http) => http.get('/readyz')));
  expect(ready.map(({ body }) => body.catalog)).toEqual([1, 2].map(() => ready[0]?.body.catalog));
  expect(message).toContain(ready[0]?.body.catalog);
});

it('comes into force in every process at once, without a restart', async () => {
  const clients = [await start('catalog'), await start('catalog')];
  expect(await Promise.all(clients.map(taxOf))).toEqual([17, 17]);
  expect(await apply(folders.untaxed)).toMatch(/is now in force\.\n1 of 1 process uses it\.\n$/);
  expect(await Promise.all(clients.map(taxOf))).toEqual([0, 0]);
  expect(await apply(folders.untaxed)).toMatch(/was already in force/);
  expect(await taxOf(await start(folders.untaxed))).toBe(0);
});

it('gives way to a price list, in every process', async () => {
  const [one, other] = [await start('catalog'), await start('catalog')];
  expect(await Promise.all([one, other].map(taxOf))).toEqual([17, 17]);
  for (const tax_percent of [5, 6]) {
    const made = await one.post('/tradewind/v1/price_lists', { scope: 'everyone', tax_percent });
    expect(made.status, made.text).toBe(201);
    expect(await taxOf(one)).toBe(tax_percent);
    await expect.poll(() => taxOf(other)).toBe(tax_percent);
  }
});

it('gives the projects there are what a new region needs', async () => {
  const http = await start('catalog');
  expect((await http.get('/cloud/v1/networks/1/4')).status).toBe(404);
  await apply(folders.wider);
  const { body: networks } = await http.get('/cloud/v1/networks/1/4');
  const { body: known } = await http.get('/cloud/v1/networks/1/3');
  expect(networks.count).toBe(known.count);
  const { body: groups } = await http.get('/cloud/v1/securitygroups/1/4');
  expect(groups.results).toMatchObject([{ name: 'default' }]);
});

it('takes nothing from the backend that has it, and gives what has nothing to another at once', async () => {
  const http = await start(folders.wider);
  const refusal = async (folder: string) => {
    const error = await apply(folder).catch((fault: unknown) => fault);
    vi.restoreAllMocks();
    expect(error).toBeInstanceOf(BackendMovedError);
    return (error as Error).message;
  };
  const volumes = '/cloud/v1/volumes/1/4';
  const made = await http.post(volumes, { source: 'new-volume', name: 'disk', size: 1 });
  expect(made.status, made.text).toBe(200);
  expect(await refusal('catalog')).toMatch(/region 4 is missing, but still has \d+ resources there/);
  await database.pool.query(`update wants set region_id = 3 where kind = 'volume'`);
  expect(await refusal(folders.moved)).toContain(
    'region 3 gets storage from other (simulated) instead of simulated, but still has 1 resource there',
  );
  await database.pool.query(`delete from wants where kind = 'volume'`);
  await database.pool.query(`update wants set due_at = null, handle = '"old"'`);
  expect(await apply(folders.moved)).toMatch(/is now in force/);
  const { rows } = await database.pool.query(
    `select distinct region_id, handle from wants where due_at is not null order by region_id`,
  );
  expect(rows).toEqual([1, 2, 3].map((region_id) => ({ region_id, handle: null })));
});

it('stays when the next has a fault, which is named by file, line and field', async () => {
  const http = await start('catalog');
  const error = await apply(folders.faulty).catch((fault: unknown) => fault);
  expect(error).toBeInstanceOf(CatalogError);
  expect((error as Error).message).toMatch(
    /price-book\.yaml:\d+ default_terms\.tax_percent: is "17 %".*\nNothing was changed\.$/,
  );
  expect(await taxOf(http)).toBe(17);
});

it('goes on in a process that can not read the next, which is not ready until it can', async () => {
  const http = await start('catalog');
  // A later release may write the catalogue like this.
  await database.pool.query(
    `update catalog set revision = revision + 1, hash = 'later',
       files = jsonb_set(files::jsonb, '{features.yaml,colours}', '[]')::text`,
  );
  await database.pool.query(`select pg_notify('tradewind_changed', 'catalog:2')`);
  await vi.waitFor(async () => expect((await http.get('/readyz')).status).toBe(503), SOON);
  const { body } = await http.get('/readyz');
  expect(body.problems.catalog).toContain('features.yaml colours: is unknown');
  expect(await taxOf(http)).toBe(17);
  await apply('catalog');
  expect((await http.get('/readyz')).body).toMatchObject({ status: 'ready', problems: {} });
});

it('is what the folder has where no other process can be alive', async () => {
  const agree = async (folder: string, alone: boolean) => {
    const catalog = await loadCatalog(folder);
    const log = createLog({ logLevel: 'silent', logFormat: 'text' });
    const prepare = async () => {};
    await agreeOnCatalog({ database, clock: systemClock, catalog, folder, origin: 'here', prepare, alone, log });
  };
  await agree('catalog', true);
  await agree(folders.untaxed, true);
  await expect(agree('catalog', false)).rejects.toThrow(CatalogDiffersError);
  await agree(folders.untaxed, false);
});
