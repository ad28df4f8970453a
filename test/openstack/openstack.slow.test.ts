import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pythonClients } from '../../scripts/test-programs.ts';
import { createClient, type Resource, type Walk } from '../acceptance/client/client.ts';
import { describeAddresses } from '../acceptance/client/families/addresses.ts';
import { describeImages } from '../acceptance/client/families/images.ts';
import { describeInstances } from '../acceptance/client/families/instances.ts';
import { describeLoadBalancers } from '../acceptance/client/families/load-balancers.ts';
import { describeNetworks } from '../acceptance/client/families/networks.ts';
import { describeSecrets } from '../acceptance/client/families/secrets.ts';
import { describeSecurityGroups } from '../acceptance/client/families/security-groups.ts';
import { describeVolumes } from '../acceptance/client/families/volumes.ts';
import { manyClients } from '../acceptance/concurrency/many-clients.ts';
import { conformance } from '../backends/conformance.ts';
import { type SdkRun, walkWithSdk } from '../support/python-sdk.ts';
import { tlsBundle } from '../support/tls-bundles.ts';
import { describeBalancing } from './balancing.ts';
import { becomesRegion } from './becomes-region.ts';
import { KILLS, outlivesKills } from './kills.ts';
import { newProject, removeAll } from './project.ts';
import { type Exchange, readRecording, startRecorder, throughStand, writeRecording } from './recording.ts';
import { assertAsWanted, type CloudRegion, prepareRegion, type ServedRegion, serveRegion, TOKEN } from './region.ts';
import { missing, type Rig, startRig } from './rig.ts';
import { clientOf, KINDS, openBackend, runScenario } from './scenario.ts';
import { describeTroubles } from './troubles.ts';

const reason = missing();
if (reason !== undefined) console.log(`SKIPPED, ${reason}`);
const RECORDING = path.join(import.meta.dirname, 'recordings/zed.jsonl');
/** A busy machine may take longer than the half minute that others need to notice. */
const NOTICED = { timeout: 180_000, interval: 500 };
const SDK_FILES = ['test_1_account.py::test_ssh_keys', 'test_2_network.py', 'test_3_storage.py', 'test_4_instances.py'];
/** What the region doesn't have, or the rig forbids. */
const SDK_LACKS = [
  'test_2_network.py::test_metrics_of_a_load_balancer',
  'test_3_storage.py::test_images_from_an_address',
  'test_4_instances.py::test_metrics_of_an_instance',
  'test_4_instances.py::test_serial_consoles',
  'test_4_instances.py::test_placement_groups',
];
const Named = Type.Object({ id: Type.String(), name: Type.String() });

describe.skipIf(reason)('on a real OpenStack', { timeout: 900_000 }, () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  }, 900_000);
  afterAll(() => rig?.stop());

  it('an operator makes it a region', async () => {
    await becomesRegion(rig);
    // Conformance takes long, and can go on while the next test runs.
    await begin();
  });

  it('fast tests read what the cloud says', async () => {
    const recorder = await startRecorder();
    const { clouds, externalNetworkId } = await newProject(rig, `recording-${randomUUID()}`);
    const backend = openBackend(throughStand(clouds, recorder), externalNetworkId);
    await runScenario(backend, externalNetworkId, 500).finally(() => recorder.close());
    const { exchanges } = recorder;
    if (process.env.TRADEWIND_WRITE_RECORDING)
      writeRecording(RECORDING, { release: 'Zed', externalNetworkId, exchanges });
    const today = formsOf(exchanges);
    for (const [request, fields] of formsOf(readRecording(RECORDING).exchanges))
      expect([request, [...(today.get(request) ?? [])]]).toEqual([request, expect.arrayContaining([...fields])]);
  });

  const begin = conformance(
    'the backend',
    async () => {
      const { externalNetworkId, clouds } = await newProject(rig, `conformance-${randomUUID()}`);
      // All share one token: otherwise Keystone is the busiest service.
      const client = clientOf(clouds);
      const open = () => openBackend(clouds, externalNetworkId, client);
      return { kinds: KINDS, externalNetworkId, open, close: () => removeAll(open()) };
    },
    // Those that take longest begin first.
    { kinds: KINDS.toReversed(), mostCalls: 400, sharing: true, kindsAtOnce: 5 },
  );

  describeTroubles(() => rig);

  describe('many clients', () => {
    let crowded: CloudRegion;
    afterAll(() => crowded?.drop());
    manyClients({
      seconds: Number(process.env.CONCURRENCY_SECONDS ?? 10),
      clients: 12,
      untilAllCame: false,
      infrastructure: {
        taskWithinMs: 600_000,
        refuses: /Nova can not put a machine into another placement group/,
        async settings(like) {
          crowded = await prepareRegion(rig, 'concurrency', { like });
          const { TRADEWIND_CATALOG_DIR = '' } = crowded.settings;
          return { TRADEWIND_CATALOG_DIR };
        },
        assertAsWanted: (pool) => assertAsWanted(crowded.project, pool),
      },
    });
  });

  // An order that is lost for good ends at the deadline of its task.
  it(`every task ends after ${KILLS} kills, and nothing is left or there twice`, () => outlivesKills(rig), 1_800_000);

  describe('a region', () => {
    let region: ServedRegion;
    let regionOfSdk: ServedRegion | undefined;
    let sdk: Promise<SdkRun> | undefined;
    beforeAll(async () => {
      region = await serveRegion(rig, 'region');
      if (!pythonClients().installed) return;
      // It goes on while other tests run.
      regionOfSdk = await serveRegion(rig, 'sdk');
      const environment = {
        SDK_FACE: 'sync',
        GCORE_BASE_URL: `${regionOfSdk.service.url}/gcore`,
        GCORE_API_KEY: TOKEN,
        TLS_BUNDLE: JSON.stringify(await tlsBundle()),
      };
      sdk = walkWithSdk(environment, [...SDK_FILES, ...SDK_LACKS.flatMap((one) => ['--deselect', one])]);
      // The test that awaits it reports its failure.
      sdk.catch(() => {});
    });
    afterAll(() => Promise.all([region?.end(), regionOfSdk?.end()]));

    const walk: Walk = {
      client: createClient((...call) => region.http.request(...call), `APIKey ${TOKEN}`),
      as: (token, word = 'APIKey') => createClient((...call) => region.http.request(...call), `${word} ${token}`),
      place: (area) => `${area}/1/1`,
      lacks: ['DDoS protection', 'downloads', 'load', 'serial consoles'],
    };
    describeNetworks(walk);
    describeSecurityGroups(walk);
    describeVolumes(walk);
    describeImages(walk);
    describeInstances(walk);
    describeAddresses(walk);
    describeLoadBalancers(walk);
    describeSecrets(walk);
    describeBalancing(
      () => rig,
      () => region,
    );

    it.skipIf(!pythonClients().installed)('does what the official Python SDK asks for', async () => {
      const run = await sdk;
      expect(run?.code, run?.output).toBe(0);
    });

    it('shows and undoes what somebody else does', async () => {
      const { client, place } = walk;
      const { api } = region.project;
      const INSTANCES = place('/cloud/v1/instances');
      const [instance] = await client.list<Resource>(INSTANCES);
      const marked = (id: string, of: string) => ({ description: `tradewind-${of}-${id}` });
      const [port] = await client.list<Resource>(`${INSTANCES}/${instance?.id}/ports`);
      const portsThere = () => api.list('network', '/ports', Named, marked(port?.id ?? '', 'port'));
      const [before] = await portsThere();
      await api.send('network', 'DELETE', `/ports/${before?.id}`, undefined);
      await vi.waitFor(
        async () => expect((await portsThere()).map(({ id }) => id !== before?.id)).toEqual([true]),
        NOTICED,
      );

      const [server] = await api.list('compute', '/servers', Named, { tags: `tradewind-machine-${instance?.id}` });
      await vi.waitFor(async () => {
        const attached = await api.list('network', '/ports', Named, { device_id: server?.id ?? '' });
        expect(attached.map(({ id }) => id)).toContain((await portsThere())[0]?.id);
      }, NOTICED);
      await api.send('compute', 'POST', `/servers/${server?.id}/action`, { 'os-stop': null });
      const status = async () => (await client.get<{ status: string }>(`${INSTANCES}/${instance?.id}`)).status;
      await vi.waitFor(async () => expect(await status()).toBe('SHUTOFF'), NOTICED);

      const GROUPS = place('/cloud/v1/securitygroups');
      const rule = { direction: 'ingress', ethertype: 'IPv4', protocol: 'tcp', port_range_min: 22, port_range_max: 22 };
      const wanted = { name: 'guarded', security_group_rules: [rule] };
      const group = await client.post<Resource>(GROUPS, { security_group: wanted });
      const Group = Type.Object({
        id: Type.String(),
        security_group_rules: Type.Array(
          Type.Object({ id: Type.String(), port_range_min: Type.Union([Type.Integer(), Type.Null()]) }),
        ),
      });
      const groups = () =>
        api.list('network', '/security-groups', Group, marked(group.id, 'security_group'), 'security_groups');
      const ports = async () => (await groups())[0]?.security_group_rules.flatMap((one) => one.port_range_min ?? []);
      await vi.waitFor(async () => expect(await ports()).toEqual([22]), NOTICED);
      const [found] = await groups();
      const security_group_rule = { ...rule, port_range_min: 23, port_range_max: 23, security_group_id: found?.id };
      await api.send('network', 'POST', '/security-group-rules', { security_group_rule });
      const ssh = found?.security_group_rules.find((one) => one.port_range_min === 22);
      await api.send('network', 'DELETE', `/security-group-rules/${ssh?.id}`, undefined);
      await vi.waitFor(async () => expect(await ports()).toEqual([22]), NOTICED);
    });
  });
});

/** Returns which fields answers have, by what was asked: whatever has an ID of its own counts as one. */
function formsOf(exchanges: readonly Exchange[]): Map<string, Set<string>> {
  const forms = new Map<string, Set<string>>();
  for (const { method, path: asked, status, answer } of exchanges) {
    const request = `${method} ${asked.replaceAll(/[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/g, '*')} ${status}`;
    // Of states that pass quickly some may be seen or not: the first answer counts.
    if (!forms.has(request)) forms.set(request, fieldsOf(answer, ''));
  }
  return forms;
}

function fieldsOf(value: unknown, at: string): Set<string> {
  if (Array.isArray(value)) return new Set(value.flatMap((each) => [...fieldsOf(each, `${at}[]`)]));
  if (typeof value !== 'object' || value === null) return new Set([at]);
  return new Set(Object.entries(value).flatMap(([name, each]) => [...fieldsOf(each, `${at}.${name}`)]));
}
