import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from 'typebox';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CatalogError } from './faults.ts';
import { loadCatalog } from './service.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalog-'));
  await cp('catalog', folder, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

/** Changes one file of the shipped catalogue. The text to replace must be there. */
async function edit(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(join(folder, file), 'utf8');
  expect(text).toContain(from);
  await writeFile(
    join(folder, file),
    text.replace(from, () => to),
  );
}

async function failure(): Promise<CatalogError> {
  const outcome = await loadCatalog(folder).catch((error: unknown) => error);
  if (outcome instanceof CatalogError) return outcome;
  throw new Error('the catalogue was accepted or failed in another way', { cause: outcome });
}

async function faults(): Promise<string[]> {
  const error = await failure();
  return error.faults.map(({ file, path, message }) => `${file} ${path}: ${message}`);
}

test('a fault says file, line, path, what is wrong and what to write', async () => {
  await edit('flavors.yaml', 'vcpus: 1, ram: 2048', "vcpus: 1, ram: '2048'");
  const error = await failure();
  expect(error.message).toBe(
    `The catalogue in ${folder} has 1 fault:\n` +
      '  flavors.yaml:6 flavors, entry 1, ram: must be a whole number, not "2048". Write it without quotes.',
  );
});

test('broken YAML is reported with its line', async () => {
  await edit('features.yaml', 'features:\n', 'features: [\n');
  const { faults: found } = await failure();
  expect(found[0]).toMatchObject({
    file: 'features.yaml',
    message: expect.stringContaining('is not valid YAML'),
  });
  expect(found[0]?.line).toBeGreaterThan(1);
});

test('a missing file is reported by its name', async () => {
  await rm(join(folder, 'images.yaml'));
  expect(await faults()).toEqual([expect.stringMatching(/^images\.yaml : can't be read \(ENOENT\)/)]);
});

test('an empty file is reported', async () => {
  await writeFile(join(folder, 'features.yaml'), '# nothing yet\n');
  expect(await faults()).toEqual(['features.yaml : must be a map of names to values, not null.']);
});

test('faults of several files are reported together', async () => {
  await edit('regions.yaml', 'country: NL', 'country: Netherlands');
  await edit('kubernetes-versions.yaml', 'v1.31.13', '1.31.13');
  expect(await faults()).toEqual([
    'regions.yaml regions, entry 1, country: is "Netherlands". Use two capital letters.',
    'kubernetes-versions.yaml versions, entry 1: is "1.31.13". Use a version such as v1.32.13.',
  ]);
});

test.each([
  [
    'price as a number',
    'price-book.yaml',
    "standard: '0.000125'",
    'standard: 0.000125',
    'prices, entry 1, volume_types.standard: must be a string, not 0.000125. Put it in quotes.',
  ],
  ['missing field', 'features.yaml', 'service: STREAMING, ', '', 'features, entry 1, service: is missing. Add it.'],
  [
    'unknown field',
    'features.yaml',
    'is_free: false,',
    'is_free: false, isFree: false,',
    'features, entry 1, isFree: is unknown. Remove it or correct its name; allowed here: id, name, service, is_free, needed_for.',
  ],
  [
    'unknown value',
    'features.yaml',
    'service: STREAMING',
    'service: STREAM',
    'features, entry 1, service: is "STREAM". Use one of: CDN, STORAGE, STREAMING, DNS, DDOS, CLOUD.',
  ],
  [
    'empty text',
    'regions.yaml',
    'keystone_name: ',
    "keystone_name: '' # ",
    'regions, entry 1, keystone_name: needs at least 1 character.',
  ],
  [
    'text that is too long',
    'features.yaml',
    'features:\n',
    `features:\n  - {id: 99, name: ${'x'.repeat(256)}, service: CDN, is_free: false}\n`,
    'features, entry 1, name: has 256 characters. Use at most 255.',
  ],
  [
    'empty list',
    'flavors.yaml',
    'regions: [1, 2, 3]',
    'regions: []',
    'flavors, entry 1, regions: needs at least 1 entry.',
  ],
  [
    'list with a value twice',
    'flavors.yaml',
    'regions: [1, 2, 3]',
    'regions: [1, 2, 1]',
    'flavors, entry 1, regions: contains the same value twice, as entry 1 and entry 3. Remove one.',
  ],
  [
    'number that is too small',
    'flavors.yaml',
    'vcpus: 1,',
    'vcpus: 0,',
    'flavors, entry 1, vcpus: must be at least 1, not 0.',
  ],
  [
    'number that is too large',
    'flavors.yaml',
    'vcpus: 1,',
    'vcpus: 5000,',
    'flavors, entry 1, vcpus: must be at most 4096, not 5000.',
  ],
  [
    'unknown value or null',
    'regions.yaml',
    'zone: EMEA',
    'zone: EUROPE',
    'regions, entry 1, zone: is "EUROPE". Use one of: AMERICAS, APAC, EMEA, RUSSIA_AND_CIS, null.',
  ],
  [
    'discount above 1',
    'price-book.yaml',
    "discount: '0',",
    "discount: '16',",
    `default_terms.discount: is "16". Use a fraction from 0 to 1 in quotes, such as '0.16' for 16 percent.`,
  ],
  [
    'duplicate id',
    'features.yaml',
    'id: 6,',
    'id: 5,',
    'features, entry 2, id: is 5, which entry 1 already has. Change or remove one of the two.',
  ],
  [
    'flavor in no region',
    'flavors.yaml',
    '[1, 2, 3]',
    '[1, 9]',
    "flavors, entry 1, regions, entry 2: refers to region 9, which isn't in regions.yaml. Remove it or correct the region.",
  ],
  [
    'template in no region',
    'ddos-templates.yaml',
    'regions: [1, 2]',
    'regions: [9]',
    "templates, entry 1, regions, entry 1: refers to region 9, which isn't in regions.yaml. Remove it or correct the region.",
  ],
  [
    'template where DDoS protection is missing',
    'ddos-templates.yaml',
    'regions: [1, 2]',
    'regions: [3]',
    'templates, entry 1, regions, entry 1: refers to region 3, which has no DDoS protection (has_ddos). Remove it or correct the region.',
  ],
  [
    'field id of another template',
    'ddos-templates.yaml',
    'id: 272',
    'id: 10',
    'templates, entry 2, fields, entry 1, id: is 10, which a field of template 29 already uses. Choose another id.',
  ],
  [
    'logs to a region without the service',
    'logging-destinations.yaml',
    '[1, 2]',
    '[1, 3]',
    'services, entry 1, destination_regions, entry 2: refers to region 3, which has no logging service in this file. Remove it or correct the region.',
  ],
  [
    'price of a type that is not offered',
    'price-book.yaml',
    "standard: '0.00013'",
    "ultra: '0.00013'",
    "prices, entry 4, volume_types.ultra: has a price, but region 2 doesn't offer it. Remove the price or add the type to the region.",
  ],
  [
    'price of a flavor that there is none of',
    'price-book.yaml',
    "g1-memory-4-32: '0.108'",
    "g1-memory-4-23: '0.108'",
    "prices, entry 1, flavors.g1-memory-4-23: has a price, but isn't in flavors.yaml. Remove the price or correct the ID.",
  ],
  [
    'GPU flavor without resource class',
    'flavors.yaml',
    '    resource_class: gpu-l40s-1\n',
    '',
    'flavors, entry 13, resource_class: is missing, but the id of g2-gpu-16-64-1l40s is that of a GPU flavor. Add it.',
  ],
  [
    'shares of no kind',
    'regions.yaml',
    'file_share_types: [vast]',
    'file_share_types: null',
    'regions, entry 1, file_share_types: lists no file share types, but has_sfs is true. Add a type or set has_sfs to false.',
  ],
])('%s is refused', async (_, file, from, to, expected) => {
  await edit(file, from, to);
  expect(await faults()).toEqual([`${file} ${expected}`]);
});

test.each([
  ['minimum: 1000', 'minimun: 1000'],
  ['minimum: 1000', "minimum: '1000'"],
  ['type: array', 'type: list'],
])('a field schema with %s turned into %s is no JSON Schema', async (from, to) => {
  await edit('ddos-templates.yaml', from, to);
  expect(await faults()).toEqual([
    expect.stringMatching(
      /^ddos-templates\.yaml templates, entry 1, fields, entry 1, validation_schema: is not a valid JSON Schema: /,
    ),
  ]);
});

test("a client's own terms replace the usual ones one by one", async () => {
  await edit('price-book.yaml', 'clients: []', "clients:\n  - {client_id: 42, currency: USD, discount: '0.16'}");
  const catalog = await loadCatalog(folder);
  expect(catalog.clientTerms(42)).toEqual({
    currency: 'USD',
    taxPercent: '17',
    discount: '0.16',
    visibility: 'show',
    trial: false,
  });
  expect(catalog.clientTerms(43).currency).toBe('EUR');
});

test('versions are put in order by number, not as text', async () => {
  await edit('kubernetes-versions.yaml', '[v1.31.13,', '[v1.31.9, v1.4.0, v1.31.13,');
  const catalog = await loadCatalog(folder);
  expect(catalog.kubernetesVersions.slice(0, 4)).toEqual(['v1.4.0', 'v1.31.9', 'v1.31.13', 'v1.31.14']);
});

test('what is loaded can not be changed', async () => {
  const catalog = await loadCatalog(folder);
  for (const part of [catalog, catalog.regions.get(1), catalog.flavors(1), catalog.images(1)[0]]) {
    expect(Object.isFrozen(part)).toBe(true);
  }
  expect(Object.isFrozen(catalog.ddosTemplate(1, 29)?.fields[0]?.validation_schema)).toBe(true);
});

test('quotas that a region leaves out have their usual limits', async () => {
  await edit('regions.yaml', '    backend: simulated\n', '    backend: simulated\n    quotas: {vm_count: 3}\n');
  const { regions } = await loadCatalog(folder);
  expect(regions.get(1)?.quotas).toMatchObject({ vm_count: 3, volume_count: 1_000, cluster_count: 100 });
  expect(regions.get(2)?.quotas).toMatchObject({ vm_count: 1_000 });
});

test('a quota that there is none of is a fault', async () => {
  await edit('regions.yaml', '    backend: simulated\n', '    backend: simulated\n    quotas: {vm_counts: 3}\n');
  expect(await faults()).toEqual([expect.stringContaining('regions.yaml regions, entry 1, quotas')]);
});

test('a region names its backends, one for all or one for each part of it', async () => {
  await edit('backends.yaml', 'backends:\n', 'backends:\n  - {name: other, kind: simulated}\n');
  await edit('regions.yaml', '    backend: simulated\n', '    backend: simulated\n    backends: {storage: other}\n');
  const catalog = await loadCatalog(folder);
  expect(catalog.backendOf(1, 'storage')?.name).toBe('other');
  expect(catalog.backendOf(1, 'compute')?.name).toBe('simulated');
  expect(catalog.backendOf(2, 'storage')?.name).toBe('simulated');
  expect(catalog.backendOf(9, 'storage')).toBeUndefined();
});

test.each([
  ['backend: nova', 'backend: is "nova", which backends.yaml doesn\'t define. Use one of: simulated; or add it there.'],
  [
    'backends: {network: neutron, compute: simulated, storage: simulated, kubernetes: simulated, file_share: simulated}',
    'backends.network: is "neutron", which backends.yaml doesn\'t define. Use one of: simulated; or add it there.',
  ],
  [
    'backends: {network: simulated, compute: simulated}',
    `backend: is missing, and "backends" doesn't cover: storage, kubernetes, file_share. Use one of: simulated.`,
  ],
])('with %s a region says what to write', async (line, fault) => {
  await edit('regions.yaml', 'backend: simulated', line);
  expect(await faults()).toEqual([`regions.yaml regions, entry 1, ${fault}`]);
});

test('a region gives a backend only what that kind of backend can do', async () => {
  const open = { settings: Type.Object({}), secrets: [] };
  const kinds = { simulated: open, hosted: { ...open, families: ['kubernetes'] as const } };
  await edit('backends.yaml', 'backends:\n', 'backends:\n  - {name: machine, kind: hosted}\n');
  const line = '    backend: simulated\n';
  await edit('regions.yaml', line, `${line}    backends: {kubernetes: machine}\n`);
  expect((await loadCatalog(folder, kinds)).backendOf(1, 'kubernetes')?.name).toBe('machine');
  await edit('regions.yaml', '{kubernetes: machine}', '{storage: machine}');
  await expect(loadCatalog(folder, kinds)).rejects.toThrow(
    'backends.storage: is "machine", a backend of the kind hosted, which only has: kubernetes. Name another one for storage.',
  );
});

test('one from before backends had a file is as it was', async () => {
  await rm(join(folder, 'backends.yaml'));
  const catalog = await loadCatalog(folder);
  expect(catalog.backendOf(1, 'network')).toMatchObject({ name: 'simulated', kind: 'simulated' });
  expect(catalog.text).not.toContain('backends.yaml');
});
