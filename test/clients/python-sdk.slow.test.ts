import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonClients } from '../../scripts/test-programs.ts';
import { activateAiFeatures } from '../support/ai-tasks.ts';
import { record, recordSdkOperations, startWatchedService } from '../support/clients.ts';
import { type SdkRun, walkWithSdk } from '../support/python-sdk.ts';
import { startService, type TestService } from '../support/service.ts';
import { tlsBundle } from '../support/tls-bundles.ts';

/** Runs the official Python SDK from PyPI, through each of its interfaces, against a server of its own. */
const WHOLE = ['sync', 'async'];
/**
 * Raw and streaming answers are wrappers of the synchronous methods, which the SDK makes alike for all, and
 * send the same requests with one header more. So these faces do a part: every kind of call in each area.
 */
const WRAPPED = ['raw', 'streaming'];
const PART = [
  'test_1_account.py',
  'test_2_network.py::test_networks',
  'test_3_storage.py::test_volumes',
  'test_5_clusters.py::test_offers',
  'test_6_streaming_and_tasks.py',
  'test_7_errors.py::test_statuses',
];
const FACES = [...WHOLE, ...WRAPPED];
const { installed } = pythonClients();
if (!installed) {
  process.stderr.write('SKIPPED, for want of the Python clients: "npm run install:tests" installs them\n');
}

describe.skipIf(!installed)('the official Python SDK', () => {
  let service: Awaited<ReturnType<typeof startWatchedService>>;
  let limited: TestService;
  const runs = new Map<string, Promise<SdkRun>>();

  beforeAll(async () => {
    service = await startWatchedService({ TRADEWIND_RATE_LIMIT: '0' });
    limited = await startService({ TRADEWIND_RATE_LIMIT: '10' }, { role: 'api' });
    const environments = await Promise.all(FACES.map(environmentOf));
    service.takeOperations();
    for (const environment of environments) {
      const face = environment.SDK_FACE;
      runs.set(face, walkWithSdk(environment, WRAPPED.includes(face) ? PART : []));
    }
  });
  afterAll(async () => {
    await service?.stop();
    await limited?.stop();
  });

  /** Each face gets its own account, as all run at once and must not see each other's things. */
  async function environmentOf(face: string) {
    const tenant = await service.otherTenant();
    await activateAiFeatures(service.http, tenant.clientId);
    return {
      SDK_FACE: face,
      GCORE_BASE_URL: `${service.url}/gcore`,
      GCORE_API_KEY: tenant.http.token,
      TLS_BUNDLE: JSON.stringify(await tlsBundle()),
      LIMITED_BASE_URL: `${limited.url}/gcore`,
      LIMITED_API_KEY: (await limited.withRole('Users')).token,
    };
  }

  it.each(FACES)('walks through what is served: %s', { timeout: 900_000 }, async (face) => {
    const run = await runs.get(face);
    expect(run?.code, run?.output).toBe(0);
  });

  /** The same in each of the faces. */
  async function figuresOf(faces: string[]) {
    const [figures, ...others] = await Promise.all(
      faces.map(async (face) => JSON.parse(/^\{.*\}$/m.exec((await runs.get(face))?.output ?? '')?.[0] ?? '')),
    );
    for (const other of others) expect(other).toEqual(figures);
    return figures;
  }

  it('has done what docs/reference/compatibility.md says', async () => {
    const [{ version, families, passed, calls }, part] = await Promise.all([figuresOf(WHOLE), figuresOf(WRAPPED)]);
    const methods = Object.values<string>(families).reduce((sum, text) => sum + Number.parseInt(text, 10), 0);
    recordSdkOperations(calls);
    record('python-sdk', {
      client: 'Official Python SDK, `gcore` from PyPI',
      pinned: version,
      passed: `${methods} methods, all whose operation is served, and ${passed} tests (${WHOLE.join(' and ')}), ${part.passed} of them with raw and streaming answers too; with strict validation of answers`,
      operations: service.takeOperations(),
      families,
    });
  });
});
