import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { isBareMetal, isGpu } from './flavor-schema.ts';
import { sharedImageNames } from './readers.ts';
import { type Flavor, loadCatalog, priced } from './service.ts';

const catalog = await loadCatalog('catalog');
const virtual = (flavor: Flavor) => !isBareMetal(flavor.flavor_id) && !isGpu(flavor.flavor_id);

test('region 1 has Kubernetes, VAST file shares, DDoS protection and both everyday volume types', () => {
  expect(catalog.regions.size).toBeGreaterThanOrEqual(2);
  expect(catalog.regions.get(1)).toMatchObject({
    state: 'ACTIVE',
    backend: 'simulated',
    has_k8s: true,
    has_ddos: true,
    has_sfs: true,
    file_share_types: ['vast'],
    available_volume_types: expect.arrayContaining(['standard', 'ssd_hiiops']),
  });
});

test('region 1 offers virtual, bare metal and GPU machines to Kubernetes, and virtual ones to instances', () => {
  const pools = catalog.flavors(1).filter((flavor) => flavor.offered_for.includes('kubernetes') && !flavor.disabled);
  expect(pools.some(virtual)).toBe(true);
  expect(pools.some((flavor) => isBareMetal(flavor.flavor_id) && !isGpu(flavor.flavor_id))).toBe(true);
  expect(pools.some((flavor) => isBareMetal(flavor.flavor_id) && isGpu(flavor.flavor_id))).toBe(true);
  expect(pools.some((flavor) => !isBareMetal(flavor.flavor_id) && isGpu(flavor.flavor_id))).toBe(true);
  for (const flavor of pools) expect(flavor.resource_class === null, flavor.flavor_id).toBe(virtual(flavor));
  const instances = catalog.flavors(1).filter((flavor) => flavor.offered_for.includes('instances'));
  expect(instances.some(virtual)).toBe(true);
  expect(instances.some((flavor) => isBareMetal(flavor.flavor_id))).toBe(false);
});

test('a template of region 1 requires an array of integers in a range, one a single number, one objects', () => {
  const ajv = new Ajv({ allowUnionTypes: true });
  const accepts = (templateId: number, fieldId: number, value: unknown) => {
    const field = catalog.ddosTemplate(1, templateId)?.fields.find(({ id }) => id === fieldId);
    expect(field?.required).toBe(true);
    return ajv.validate(field?.validation_schema ?? false, value);
  };
  expect(accepts(29, 10, [45046, 45047])).toBe(true);
  for (const value of [[], [999], [65536], ['45046'], 45046]) expect(accepts(29, 10, value)).toBe(false);
  expect(accepts(65, 272, 40)).toBe(true);
  expect(accepts(65, 272, [40])).toBe(false);
  expect(accepts(1128, 1352, [{ dport_list: [80], proto_list: ['TCP'], policy: 'DROP' }])).toBe(true);
  for (const port of [0, 65536, '0', '65536', '080', ''])
    expect(accepts(1128, 1352, [{ dport_list: [port], policy: 'DROP' }]), `${port}`).toBe(false);
  for (const port of [1, 65535, '1', '27015', '65535'])
    expect(accepts(1128, 1352, [{ sport_list: [port], proto_list: ['udp'], policy: 'DROP' }])).toBe(true);
});

test('no image is named like the beginning of another one, by which the older Terraform provider finds images', () => {
  for (const region of catalog.regions.keys()) expect(sharedImageNames(catalog.images(region))).toEqual([]);
});

test('Kubernetes 1.31 to 1.35 are offered, oldest first', () => {
  const minors = new Set(catalog.kubernetesVersions.map((version) => version.split('.').slice(0, 2).join('.')));
  expect([...minors]).toEqual(['v1.31', 'v1.32', 'v1.33', 'v1.34', 'v1.35']);
});

test('there are images, logging destinations, and features, paid and free, that each open something', () => {
  expect(catalog.images(1).map((image) => image.os_distro)).toEqual(expect.arrayContaining(['ubuntu', 'debian']));
  expect(catalog.loggingDestinations(1)).toContainEqual({ region_id: 1, region_name: 'Port Halden' });
  expect(catalog.loggingDestinations(3)).toEqual([]);
  expect([...catalog.features.values()].map(({ id, is_free, needed_for }) => [id, is_free, needed_for])).toEqual([
    [5, false, 'transcription'],
    [6, true, 'content-moderation'],
  ]);
});

test('every flavor and volume type of a region has a price in EUR, but for the gap left on purpose', () => {
  const gaps = [...catalog.regions.values()].flatMap((region) =>
    (region.available_volume_types ?? [])
      .filter((type) => catalog.hourPrice(region.id, priced.volume(type), 'EUR') === undefined)
      .map((type) => `${region.id} ${type}`),
  );
  expect(gaps).toEqual(['2 ssd_lowlatency']);
  const unpriced = [...catalog.regions.keys()].flatMap((id) =>
    catalog.flavors(id).filter((flavor) => catalog.hourPrice(id, priced.flavor(flavor.flavor_id), 'EUR') === undefined),
  );
  expect(unpriced).toEqual([]);
  expect(catalog.clientTerms(1)).toEqual({
    currency: 'EUR',
    taxPercent: '17',
    discount: '0',
    visibility: 'show',
    trial: false,
  });
});
