import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { changedCatalog } from '../../../../../test/support/catalogs.ts';
import { addReseller } from '../../../../../test/support/reseller.ts';
import { ENCRYPTION_KEY } from '../../../../../test/support/secrets.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';
import { loadConfig } from '../../../../config.ts';
import { catalogApply } from '../../../../start/catalog-apply.ts';
import { addressFindings } from '../../../../start/catalog-checks.ts';
import { MAKERS } from '../../../../start/from-settings.ts';
import { loadCatalog } from '../../../ground/catalog/service.ts';

const FIRST = '0b1f6f3e-6c44-4d0a-9a57-2f6a3c1d7e10';
const SECOND = '6a4d5a5e-5c0a-4c57-9f6f-0d6c1a8e4b21';
const ADDRESSES = '/tradewind/v1/platform/external_addresses';
const FLOATING = '/cloud/v1/floatingips/1/1';
const ROUTERS = '/cloud/v1/routers/1/1';

type Prefix = { cidr: string; gateway?: string | null; first?: string; last?: string };
type Network = { id: string; name: string; prefixes: Prefix[] };

const folders: string[] = [];
/** A catalogue in which region 1 has these networks; the others are as shipped unless `change` says otherwise. */
function catalogOf(
  networks: Network[],
  change: (region: Record<string, unknown>) => object = (region) => region,
): string {
  const folder = changedCatalog('regions.yaml', ({ regions = [] }) => ({
    regions: regions.map((region) =>
      change({ ...region, ...('id' in region && region.id === 1 && outside(networks)) }),
    ),
  }));
  folders.push(folder);
  return folder;
}
const outside = (networks: Network[]) => ({
  external_network_id: networks[0]?.id ?? null,
  external_networks: networks,
});
const first = (...prefixes: (Prefix | string)[]): Network => ({
  id: FIRST,
  name: 'external',
  prefixes: prefixesOf(prefixes),
});
const second = (...prefixes: (Prefix | string)[]): Network => ({
  id: SECOND,
  name: 'spare',
  prefixes: prefixesOf(prefixes),
});
const prefixesOf = (prefixes: (Prefix | string)[]) =>
  prefixes.map((one) => (typeof one === 'string' ? { cidr: one } : one));

let service: TestService;
beforeAll(async () => {
  service = await startService({
    TRADEWIND_CATALOG_DIR: catalogOf([first('203.0.113.0/29')]),
    TRADEWIND_LOG_LEVEL: 'silent',
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await service?.stop();
  for (const folder of folders) fs.rmSync(folder, { recursive: true });
});

function settings(folder: string) {
  return loadConfig({
    DATABASE_URL: service.pool.options.connectionString,
    TRADEWIND_ENCRYPTION_KEY: ENCRYPTION_KEY,
    TRADEWIND_CATALOG_DIR: folder,
    TRADEWIND_DATA_DIR: path.join(os.tmpdir(), 'unused'),
    TRADEWIND_LOG_LEVEL: 'silent',
  });
}

/** Runs `tradewind catalog apply`. */
async function apply(folder: string): Promise<void> {
  const told = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await catalogApply.run({ config: settings(folder), options: {}, stop: new AbortController().signal });
  } finally {
    told.mockRestore();
  }
}
const refusalOf = (folder: string): Promise<string> =>
  apply(folder).then(
    () => expect.fail('it was applied'),
    (error: Error) => error.message,
  );

/** Makes a floating IP and returns its address; what the server says if it can't. */
async function floatingIp(): Promise<string> {
  const made = await service.http.post(FLOATING, {});
  if (made.status !== 200) return made.text;
  const { created_resources } = await service.http.task(made.body[0]);
  return (await service.http.get(`${FLOATING}/${created_resources.floatingips[0]}`)).body.floating_ip_address;
}

async function giveBackAll(): Promise<void> {
  for (const [list, one] of [
    [FLOATING, FLOATING],
    [ROUTERS, ROUTERS],
    ['/cloud/v1/reserved_fixed_ips/1/1', '/cloud/v1/reserved_fixed_ips/1/1'],
  ]) {
    const { results } = (await service.http.get(list ?? '')).body;
    for (const { id, port_id } of results) {
      await service.http.task((await service.http.delete(`${one}/${id ?? port_id}`)).body[0]);
    }
  }
}

async function left(): Promise<Record<string, object>> {
  const { status, text, body } = await service.http.get(`${ADDRESSES}?region_id=1`);
  expect(status, text).toBe(200);
  return Object.fromEntries(
    body.results.map(({ cidr, total, in_use, free, kept }: Record<string, unknown>) => [
      cidr,
      { total, in_use, free, kept },
    ]),
  );
}

it('gives out the prefixes of the catalogue, grows while they are in use, and moves on when one is full', async () => {
  const one = await floatingIp();
  expect(one).toBe('203.0.113.2');
  expect(await left()).toEqual({ '203.0.113.0/29': { total: 8, in_use: 1, free: 4, kept: 3 } });
  for (const last of [3, 4, 5, 6]) expect(await floatingIp()).toBe(`203.0.113.${last}`);
  expect(await floatingIp()).toContain('The external network has no free addresses');

  await apply(catalogOf([first('203.0.113.0/29', '203.0.113.128/29', '2001:db8:7::/64'), second('198.51.100.0/29')]));
  for (const last of [130, 131, 132, 133, 134]) expect(await floatingIp()).toBe(`203.0.113.${last}`);
  // Then another network, which reserved addresses and routers get theirs of as well.
  const reserved = await service.http.post('/cloud/v1/reserved_fixed_ips/1/1', { type: 'external', ip_family: 'dual' });
  const { ports } = (await service.http.task(reserved.body[0])).created_resources;
  expect((await service.http.get(`/cloud/v1/reserved_fixed_ips/1/1/${ports[0]}`)).body).toMatchObject({
    fixed_ip_address: '198.51.100.2',
    fixed_ipv6_address: '2001:db8:7::2',
    is_external: true,
  });
  const router = await service.http.post(ROUTERS, { name: 'out', external_gateway_info: { type: 'default' } });
  const { routers } = (await service.http.task(router.body[0])).created_resources;
  expect((await service.http.get(`${ROUTERS}/${routers[0]}`)).body.external_gateway_info).toMatchObject({
    network_id: SECOND,
    external_fixed_ips: [{ ip_address: '198.51.100.3' }],
  });
  for (const last of [4, 5, 6]) expect(await floatingIp()).toBe(`198.51.100.${last}`);
  expect(await floatingIp()).toContain('None of the 3 external subnets has free addresses');
  expect(await left()).toEqual({
    '203.0.113.0/29': { total: 8, in_use: 5, free: 0, kept: 3 },
    '203.0.113.128/29': { total: 8, in_use: 5, free: 0, kept: 3 },
    '2001:db8:7::/64': { total: null, in_use: 1, free: null, kept: 2 },
    '198.51.100.0/29': { total: 8, in_use: 5, free: 0, kept: 3 },
  });
});

it('takes away no prefix of which addresses are in use, and says how many they are', async () => {
  const refusal = await refusalOf(
    catalogOf([first({ cidr: '203.0.113.0/29', first: '203.0.113.4' }, '203.0.113.128/29')]),
  );
  for (const line of [
    '203.0.113.0/29 of network external in region 1 leaves out 2 addresses in use',
    '198.51.100.0/29 of network spare in region 1 is missing, but 5 addresses of it are in use',
    '2001:db8:7::/64 of network external in region 1 is missing, but 1 address of it is in use',
  ])
    expect(refusal).toContain(line);
  expect(refusal).not.toContain('203.0.113.128/29');
  expect(Object.keys(await left())).toHaveLength(4);
  expect((await service.http.get('/cloud/v1/regions/1')).body).not.toHaveProperty('external_networks');
});

it('leads a router to another network, and back if that fails', async () => {
  await giveBackAll();
  const made = await service.http.post(ROUTERS, { name: 'moves', external_gateway_info: { type: 'default' } });
  const { routers } = (await service.http.task(made.body[0])).created_resources;
  const gatewayOf = async () => (await service.http.get(`${ROUTERS}/${routers[0]}`)).body.external_gateway_info;
  expect(await gatewayOf()).toMatchObject({ network_id: FIRST });
  const to = (network_id: string) =>
    service.http.patch(`${ROUTERS}/${routers[0]}`, { external_gateway_info: { type: 'manual', network_id } });
  expect((await to(SECOND)).status).toBe(200);
  expect(await gatewayOf()).toMatchObject({ network_id: SECOND, external_fixed_ips: [{ ip_address: '198.51.100.2' }] });
  expect(await left()).toMatchObject({ '203.0.113.0/29': { in_use: 0 }, '198.51.100.0/29': { in_use: 1 } });
  await giveBackAll();
});

it('removes, shrinks and changes what nobody uses', async () => {
  const names = async () =>
    (await service.http.get('/cloud/v1/networks/1/1?owned_by=any&external=true')).body.results.map(
      ({ name }: { name: string }) => name,
    );
  expect((await names()).toSorted()).toEqual(['external', 'spare']);
  await apply(
    catalogOf([
      {
        ...first({ cidr: '203.0.113.0/28', gateway: '203.0.113.5', first: '203.0.113.4', last: '203.0.113.6' }),
        name: 'wan',
      },
    ]),
  );
  expect(await names()).toEqual(['wan']);
  expect(await left()).toEqual({ '203.0.113.0/28': { total: 16, in_use: 0, free: 2, kept: 14 } });
  expect([await floatingIp(), await floatingIp()]).toEqual(['203.0.113.4', '203.0.113.6']);
  // The gateway moves, and the pool grows at both ends.
  await apply(catalogOf([first({ cidr: '203.0.113.0/28', gateway: null })]));
  expect(await left()).toEqual({ '203.0.113.0/28': { total: 16, in_use: 2, free: 12, kept: 2 } });
  expect([await floatingIp(), await floatingIp()]).toEqual(['203.0.113.1', '203.0.113.2']);
  await giveBackAll();
  // A region with no prefixes named keeps what it has.
  await apply(catalogOf([], (region) => (region.id === 1 ? { ...region, external_network_id: FIRST } : region)));
  expect(Object.keys(await left())).toEqual(['203.0.113.0/28']);
  // The prefix of one region may become that of another at once.
  await apply(
    catalogOf([first('198.18.32.0/20')], (region) =>
      region.id === 2
        ? {
            ...region,
            external_networks: [
              { id: region.external_network_id, name: 'external', prefixes: [{ cidr: '203.0.113.0/28' }] },
            ],
          }
        : region,
    ),
  );
  expect(Object.keys(await left())).toEqual(['198.18.32.0/20']);
});

it('refuses prefixes that overlap, naming both', async () => {
  const within = await refusalOf(catalogOf([first('203.0.113.0/24', '203.0.113.128/25')]));
  expect(within).toMatch(
    /regions\.yaml:\d+ regions, entry 1, external_networks, entry 1, prefixes, entry 2, cidr: is 203\.0\.113\.128\/25, which overlaps 203\.0\.113\.0\/24 of network external of region 1/,
  );
  expect(await refusalOf(catalogOf([first('198.18.0.0/15')]))).toContain(
    'is 198.18.48.0/20, which overlaps 198.18.0.0/15 of network external of region 1',
  );
  expect(
    await refusalOf(catalogOf([second('203.0.113.0/24'), { ...second('198.51.100.0/24'), name: 'twin' }])),
  ).toContain(`is ${SECOND}, which network spare of region 1 already has`);
  const others: [Prefix, string][] = [
    [{ cidr: '203.0.113.1/24' }, 'cidr: is "203.0.113.1/24". Has bits set beyond its mask'],
    [
      { cidr: '203.0.113.0/24', gateway: '203.0.114.1' },
      'gateway: is "203.0.114.1". Must be an address from 203.0.113.1',
    ],
    [{ cidr: '203.0.113.0/24', first: '203.0.113.0' }, 'first: is "203.0.113.0". Use an address from 203.0.113.1'],
    [{ cidr: '203.0.113.0/24', first: '203.0.113.9', last: '203.0.113.8' }, 'It leaves no address to give out'],
  ];
  for (const [prefix, said] of others) expect(await refusalOf(catalogOf([first(prefix)]))).toContain(said);
});

it('gives a new region no addresses that another one has', async () => {
  const added = (id: number, networks: Network[]) => {
    const folder = changedCatalog('regions.yaml', ({ regions = [] }) => ({
      regions: [
        ...regions,
        { ...regions[0], ...outside(networks), id, slug: 'new', display_name: 'New', keystone_name: 'new' },
      ],
    }));
    folders.push(folder);
    return folder;
  };
  const unnamed = (id: number) => {
    const file = path.join(added(id, []), 'regions.yaml');
    const text = fs.readFileSync(file, 'utf8').replace('external_network_id: null', `external_network_id: ${SECOND}`);
    fs.writeFileSync(file, text);
    return path.dirname(file);
  };
  const refusal = await refusalOf(unnamed(33));
  expect(refusal).toContain(
    'region 33 names no prefixes, and its part of the ranges for tests, 198.18.16.0/20, overlaps 198.18.16.0/20 of network external in region 1',
  );
  expect(refusal).toContain('Name the prefixes in catalog/regions.yaml.');
  await apply(unnamed(40));
  const { results } = (await service.http.get(`${ADDRESSES}?region_id=40`)).body;
  expect(results.map(({ cidr }: { cidr: string }) => cidr)).toEqual(['198.18.128.0/20', '2001:2:0:28::/64']);
  await apply(added(33, [second('203.0.113.0/24')]));
  const made = await service.http.post('/cloud/v1/floatingips/1/33', {});
  await service.http.task(made.body[0]);
  const [given] = (await service.http.get('/cloud/v1/floatingips/1/33')).body.results;
  expect(given.floating_ip_address).toBe('203.0.113.2');
  expect(await floatingIp()).toBe('198.18.16.2');
  await service.http.task((await service.http.delete(`/cloud/v1/floatingips/1/33/${given.id}`)).body[0]);
});

it('leaves out what the backend keeps for itself', async () => {
  const folder = catalogOf([first('203.0.113.0/28', '2001:db8:7::/64')]);
  fs.writeFileSync(
    path.join(folder, 'backends.yaml'),
    'backends: [{name: simulated, kind: simulated, settings: {kept_addresses: 3}}]',
  );
  await giveBackAll();
  await apply(folder);
  expect(await left()).toMatchObject({ '203.0.113.0/28': { total: 16, in_use: 0, free: 10, kept: 6 } });
  expect(await floatingIp()).toBe('203.0.113.5');
  const network = await service.http.post('/cloud/v1/networks/1/1', { name: 'keeping', create_router: false });
  const network_id = (await service.http.task(network.body[0])).created_resources.networks[0];
  const subnet = async (body: object) =>
    service.http.post('/cloud/v1/subnets/1/1', { name: 'kept', network_id, ...body });
  const made = await subnet({ cidr: '10.10.0.0/28' });
  const subnet_id = (await service.http.task(made.body[0])).created_resources.subnets[0];
  const reserve = (ip_address: string) =>
    service.http.post('/cloud/v1/reserved_fixed_ips/1/1', { type: 'ip_address', network_id, ip_address });
  expect((await reserve('10.10.0.4')).text).toContain('is not in the address range');
  expect((await reserve('10.10.0.5')).status).toBe(200);
  expect((await service.http.get(`/cloud/v1/subnets/1/1/${subnet_id}`)).body.total_ips).toBe(10);
  // It would keep other addresses than it was told.
  const moved = await subnet({ cidr: '10.11.0.0/28', gateway_ip: '10.11.0.9' });
  const other = (await service.http.task(moved.body[0])).created_resources.subnets[0];
  const move = await service.http.patch(`/cloud/v1/subnets/1/1/${other}`, { gateway_ip: '10.11.0.2' });
  expect([move.status, move.text]).toEqual([400, expect.stringContaining('keeps the addresses before 10.11.0.4')]);
  const { http, projectId } = await service.otherTenant();
  const [first10] = (await http.get(`/cloud/v1/subnets/${projectId}/1`)).body.results;
  expect(first10).toMatchObject({ cidr: '10.0.0.0/20', total_ips: 4090 });
});

it('loses no address while prefixes come and go', async () => {
  await giveBackAll();
  const both = catalogOf([first('203.0.113.0/29', '203.0.113.64/29')]);
  const one = catalogOf([first('203.0.113.64/29')]);
  for (let round = 0; round < 3; round++) {
    await apply(both);
    const [applied, ...answers] = await Promise.all([
      apply(one).then(
        () => 'applied',
        (error: Error) => error.message,
      ),
      ...Array.from({ length: 4 }, floatingIp),
    ]);
    if (applied !== 'applied') expect(applied).toContain('in use');
    expect(answers.join()).toMatch(/^(203\.0\.113\.\d+,?){4}$/);
    expect(new Set(answers).size).toBe(4);
    const known = applied === 'applied' ? /^203\.0\.113\.6\d$|^203\.0\.113\.70$/ : /^203/;
    for (const address of answers) expect(address).toMatch(known);
    await giveBackAll();
  }
});

it('tells metrics and the doctor when few are left', async () => {
  await giveBackAll();
  const folder = catalogOf([first({ cidr: '203.0.113.0/27', first: '203.0.113.5', last: '203.0.113.25' })]);
  await apply(folder);
  const catalog = await loadCatalog(folder, MAKERS);
  expect(await addressFindings(settings(folder), catalog)).toMatchObject([{ state: 'ok' }]);
  const reserved: string[] = [];
  while (reserved.length < 21) reserved.push(await floatingIp());
  expect(await addressFindings(settings(folder), catalog)).toMatchObject([
    { what: 'Public addresses', state: 'limited', detail: expect.stringContaining('region 1 has 0 of 21 IPv4 left') },
  ]);
  const { text } = await service.anonymous.get('/metrics');
  expect(text).toContain('tradewind_external_addresses{region="1",family="IPv4",state="in_use"} 21');
  expect(text).toContain('tradewind_external_addresses{region="1",family="IPv4",state="free"} 0');
  expect(text).toContain('tradewind_external_addresses{region="1",family="IPv4",state="kept"} 11');
});

it('is for the platform administrator, not for resellers', async () => {
  const { http } = await addReseller(service, 'Curious');
  expect(await http.get(ADDRESSES)).toMatchObject({ status: 403 });
});
