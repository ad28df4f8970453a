import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { EXTERNAL, startCloud, type TestCloud } from '../../test/support/openstack.ts';
import { refuseRecordsOfCommands } from '../../test/support/records.ts';
import { ENCRYPTION_KEY } from '../../test/support/secrets.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { loadCatalog } from '../cloud/ground/catalog/service.ts';
import { loadConfig } from '../config.ts';
import { backendFindings } from './catalog-checks.ts';
import { MAKERS } from './from-settings.ts';
import { regionAdd } from './region-add.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-region-'));
const catalog = path.join(folder, 'catalog');
const clouds = path.join(folder, 'clouds.yaml');
const FILES = ['backends.yaml', 'regions.yaml', 'flavors.yaml', 'images.yaml'];
const text = (where: string, name: string) => fs.readFileSync(path.join(where, name), 'utf8');
const changed = () => FILES.filter((name) => text('catalog', name) !== text(catalog, name));
/** The lines that a file has and the shipped one doesn't. */
const added = (name: string) =>
  text(catalog, name)
    .split('\n')
    .filter((line) => !text('catalog', name).split('\n').includes(line));

/** The answer to who may choose an address, which the network doesn't have. */
const NO_SUCH_ADDRESS = { status: 400, body: { NeutronError: { type: 'InvalidIpForNetwork', message: '0.0.0.0' } } };

let service: TestService;
let cloud: TestCloud;
beforeAll(async () => {
  fs.cpSync('catalog', catalog, { recursive: true });
  cloud = await startCloud();
  fs.writeFileSync(clouds, cloud.clouds, { mode: 0o600 });
  service = await startService({ TRADEWIND_CATALOG_DIR: catalog });
});
beforeEach(() => {
  cloud.changes.length = 0;
  for (const name of Object.keys(cloud.refusals)) delete cloud.refusals[name];
  cloud.refusals['POST /network/v2.0/floatingips'] = NO_SUCH_ADDRESS;
});
afterAll(async () => {
  await service.stop();
  cloud.stop();
  fs.rmSync(folder, { recursive: true });
});

const config = () =>
  loadConfig({
    DATABASE_URL: service.pool.options.connectionString ?? '',
    TRADEWIND_DATA_DIR: folder,
    TRADEWIND_CATALOG_DIR: catalog,
    TRADEWIND_ENCRYPTION_KEY: ENCRYPTION_KEY,
    TRADEWIND_LOG_LEVEL: 'silent',
  });

/** Runs the command and returns what it prints. */
async function add(options = {}): Promise<string> {
  const print = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const given = { kind: 'openstack', clouds, name: 'Lisbon', ...options };
  try {
    const stop = new AbortController().signal;
    expect(await regionAdd.run({ config: config(), options: given, stop })).toBe(0);
    return print.mock.calls.map(([line]) => line).join('');
  } finally {
    print.mockRestore();
  }
}

/** While the cloud answers this, or nothing, at that path. */
async function whileAt<T>(at: string, answer: object | undefined, work: () => Promise<T>): Promise<T> {
  const former = cloud.answers[at];
  cloud.answers[at] = answer;
  try {
    return await work();
  } finally {
    cloud.answers[at] = former;
  }
}

it('says what is wrong with what was typed', async () => {
  await expect(add({ kind: 'vmware' })).rejects.toThrow(/vmware can't be added this way: only openstack can\. Nothing/);
  await expect(add({ clouds: 'clouds.yaml' })).rejects.toThrow('with an absolute path: --clouds /etc/tradewind');
  await expect(add({ clouds: '/nowhere/clouds.yaml' })).rejects.toThrow("can't be read (ENOENT)");
  await expect(add({ cloud: 'other' })).rejects.toThrow('it has the clouds double; name one of them');
  await expect(add({ name: ' ' })).rejects.toThrow('Say what clients call the region');
  await expect(add({ name: 'Port Halden' })).rejects.toThrow('Region 1 is called Port Halden already');
  await expect(add({ id: '2' })).rejects.toThrow('Region 2 is there already: it is Cape Merrin. Nothing was changed.');
  await expect(add({ id: '0x4' })).rejects.toThrow('--id is 0x4');
  await expect(add({ 'external-network': 'private' })).rejects.toThrow(
    `The project sees no external network private: it sees public (${EXTERNAL}). Nothing was changed.`,
  );
  fs.chmodSync(clouds, 0o644);
  await expect(add()).rejects.toThrow('is open to other users (mode 644); close it (chmod 600)');
  fs.chmodSync(clouds, 0o600);
  expect([changed(), cloud.changes]).toEqual([[], []]);
});

it('says what a cloud lacks', async () => {
  const nova = (version: string) => ({ versions: [{ id: 'v2.1', status: 'CURRENT', version }] });
  await whileAt('/compute/', nova('2.60'), () =>
    expect(add()).rejects.toThrow(
      "This cloud can't be a region: Nova has version 2.60, and 2.79 is needed: that of OpenStack Train, or newer. Nothing was changed.",
    ),
  );
  await whileAt('/volume/v3/p/types', { volume_types: [{ name: 'ceph' }] }, () =>
    whileAt('/volume/v3/p/types/default', undefined, () =>
      expect(add()).rejects.toThrow(
        'The cloud has no volume type that is called as one of ours, and no default one: it has ceph. Ours are cold, ',
      ),
    ),
  );
  await whileAt('/network/v2.0/subnets', { subnets: [] }, () =>
    expect(add()).rejects.toThrow(
      'The credentials see no subnet of the external network public: it has none, or they lack the right to see it',
    ),
  );
  const small = { network_id: EXTERNAL, cidr: '203.0.113.0/31', gateway_ip: null, allocation_pools: [] };
  await whileAt('/network/v2.0/subnets', { subnets: [small] }, () =>
    expect(add()).rejects.toThrow(
      'The external network public has no subnet with addresses to give. The region gives no addresses of the subnet 203.0.113.0/31: its cidr is "203.0.113.0/31". The prefix length of an IPv4 range must be from /8 to /29, but is /31. Nothing was changed.',
    ),
  );
  const networks = ['one', 'two'].map((name) => ({ id: name, name }));
  await whileAt('/network/v2.0/networks', { networks }, () =>
    expect(add()).rejects.toThrow('Name one of the external networks with --external-network: one (one), two (two).'),
  );
  expect([changed(), cloud.changes]).toEqual([[], []]);
});

it('says which right is missing, and leaves nothing behind', async () => {
  const ofAddress = 'rule:create_floatingip:floating_ip_address is disallowed by policy';
  cloud.refusals['POST /network/v2.0/floatingips'] = {
    status: 403,
    body: { NeutronError: { type: 'PolicyNotAuthorized', message: ofAddress } },
  };
  await expect(add()).rejects.toThrow(
    `The credentials lack the right to choose a floating address in this project: ${ofAddress}. Nothing was changed.`,
  );
  cloud.refusals['POST /network/v2.0/floatingips'] = NO_SUCH_ADDRESS;
  const body = { NeutronError: { type: 'PolicyNotAuthorized', message: 'rule:create_port is disallowed by policy' } };
  cloud.refusals['POST /network/v2.0/ports'] = { status: 403, body };
  await expect(add()).rejects.toThrow(
    'The credentials lack the right to make a port in this project: rule:create_port is disallowed by policy. Nothing was changed.',
  );
  expect(cloud.changes).toEqual(['POST /network/v2.0/networks', 'DELETE /network/v2.0/networks/made']);
  cloud.refusals['POST /network/v2.0/ports'] = {
    status: 409,
    body: { NeutronError: { type: 'OverQuota', message: "Quota exceeded for resources: ['port']." } },
  };
  await expect(add()).rejects.toThrow(
    "The cloud could not make a port: Neutron refuses it: Quota exceeded for resources: ['port'].",
  );
  expect(changed()).toEqual([]);
});

it('uses what not every cloud has, if the credentials may', async () => {
  expect(await add({ 'dry-run': true })).toContain(
    'The region makes no secrets, for which it needs barbican: the cloud has no service key-manager.\nThe region makes no load balancers, for which it needs octavia: the cloud has no service load-balancer.\n',
  );
  cloud.optional.push('key-manager', 'load-balancer');
  cloud.refusals['POST /keys/v1/secrets'] = { status: 400, body: { code: 400, description: 'It must be non empty.' } };
  cloud.refusals['POST /balancing/v2/lbaas/loadbalancers'] = {
    status: 400,
    body: { faultstring: 'VIP must be given' },
  };
  const said = await add({ 'dry-run': true });
  expect(said).toContain('Glance 2.15, Barbican 1, Octavia 2.26.\n');
  expect(said).toContain(
    'Load balancers: lb1-1-2 is LB1-1-2.\n  Not in the cloud, so not offered in the region: lb1-2-4',
  );
  expect(said).toContain(
    '      load_balancer_flavors: {lb1-1-2: small}\n      kept_addresses: 20\n      services: [barbican, octavia]\n',
  );
  expect(said).toContain('# flavors.yaml: region 4 is added to g1-standard-1-2, g1-standard-2-4, lb1-1-2');
  const refusal = { status: 403, body: { faultstring: 'Policy does not allow this request to be performed.' } };
  cloud.refusals['POST /balancing/v2/lbaas/loadbalancers'] = refusal;
  cloud.refusals['GET /balancing/v2/lbaas/flavors'] = refusal;
  const less = await add({ 'dry-run': true });
  expect(less).toContain(
    "The region makes no load balancers, for which it needs octavia: The backend's credentials lack a right: Policy does not allow this request to be performed.\n",
  );
  expect(less).toContain('      services: [barbican]\n');
  cloud.refusals['POST /balancing/v2/lbaas/loadbalancers'] = { status: 503, body: {} };
  expect(await add({ 'dry-run': true })).toContain('for which it needs octavia: Octavia answers 503: status 503.\n');
  expect([changed(), cloud.changes]).toEqual([[], []]);
  cloud.optional.length = 0;
});

it('writes nothing in a dry run, and makes nothing', async () => {
  const said = await add({ 'dry-run': true });
  expect(said).toContain(
    'Nothing was written or made; the rights in Neutron and Cinder were not tried.\n# backends.yaml\nbackends:\n  - name: lisbon\n',
  );
  expect(said).toContain('# flavors.yaml: region 4 is added to g1-standard-1-2, g1-standard-2-4');
  expect([changed(), cloud.changes]).toEqual([[], []]);
});

it('puts the files back if the catalogue can not be put in force', async () => {
  const recordAgain = await refuseRecordsOfCommands(service.pool);
  await expect(add()).rejects.toThrow('no_commands');
  await recordAgain();
  expect(changed()).toEqual([]);
});

it('makes a region of a cloud, which offers what both have', async () => {
  const said = await add();
  expect(cloud.changes).toEqual([
    ...['POST /network/v2.0/networks', 'POST /network/v2.0/ports', 'DELETE /network/v2.0/ports/made'],
    ...['DELETE /network/v2.0/networks/made', 'POST /volume/v3/p/volumes', 'DELETE /volume/v3/p/volumes/made'],
  ]);
  expect(said).toContain('has Nova 2.93, Neutron 2.0, Cinder 3.70, Glance 2.15.\n');
  expect(said).toContain(
    'Flavors: g1-standard-1-2 is G1-Standard-1-2; g1-standard-2-4 is m1.medium, of the same size.\n',
  );
  expect(said).toContain(
    'Images: Debian 12, of the same distribution.\n  Not in the cloud, so not offered in the region: ubuntu',
  );
  expect(said).toContain(
    'Region 4, Lisbon, is made by the backend lisbon. Changed backends.yaml, regions.yaml, flavors.yaml and images.yaml in',
  );
  expect(said).toContain('is now in force.');
  expect(added('backends.yaml')).toEqual([
    '  - name: lisbon',
    '    kind: openstack',
    `    secrets: {clouds: ${clouds}}`,
    '    settings:',
    '      cloud: double',
    `      external_network: ${EXTERNAL}`,
    `      flavors: {g1-standard-1-2: "1", g1-standard-2-4: "2"}`,
    '      images: {8e3f4b37-0007-48e0-ab8d-827ad984aa0b: 0c6d7b38-0b52-4cc8-9b32-6e3ab03c6f0e}',
    '      volume_types: {standard: Standard}',
  ]);
  expect(added('regions.yaml')).toEqual(
    expect.arrayContaining([
      '  - id: 4',
      '    display_name: Lisbon',
      '    backend: lisbon',
      '        prefixes: [{cidr: 203.0.113.0/24, gateway: 203.0.113.1, first: 203.0.113.2, last: 203.0.113.99}]',
    ]),
  );
  expect(text(catalog, 'regions.yaml')).toContain(
    'backend: lisbon\n    products: []\n    available_volume_types: [standard, ssd_hiiops]\n',
  );
  expect(added('flavors.yaml')).toHaveLength(2);
  expect(added('images.yaml')).toEqual(['    regions: [1, 2, 3, 4]']);
  const { results } = (await service.http.get('/cloud/v1/flavors/1/4')).body;
  expect(results.map((flavor: { flavor_id: string }) => flavor.flavor_id)).toEqual([
    'g1-standard-1-2',
    'g1-standard-2-4',
  ]);
});

it('is refused for a project that is a region already', async () => {
  await expect(add({ name: 'Porto' })).rejects.toThrow(
    'The backend lisbon has the cloud double already: another region needs a project of its own. Nothing was changed.',
  );
});

it('doctor says later what the cloud has no more', async () => {
  const lisbon = async () => (await backendFindings(config(), await loadCatalog(catalog, MAKERS), MAKERS)).at(-1);
  const gone = { flavors: [{ id: '2', name: 'm1.medium', vcpus: 2, ram: 4096, disk: 0 }] };
  const found = await whileAt('/compute/v2.1/flavors/detail', gone, lisbon);
  expect(found).toMatchObject({ what: 'Backend lisbon', state: 'limited' });
  expect(found?.detail).toContain('; Nova 2.93, Neutron 2.0, Cinder 3.70, Glance 2.15; ');
  expect(found?.detail).toContain(
    "the catalogue offers flavors that the cloud doesn't have: g1-standard-1-2 (1 in the cloud)",
  );
});
