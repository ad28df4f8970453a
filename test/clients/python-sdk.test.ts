import { spawn } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonClients } from '../../scripts/install-test-clients.ts';
import { record, startWatchedService } from '../support/clients.ts';
import { startService, type TestService } from '../support/service.ts';

/** Runs the official Python SDK from PyPI, through each of its interfaces, against a server of its own. */
const FACES = ['sync', 'raw', 'streaming', 'async'];
const SCENARIO = path.join(import.meta.dirname, 'python');
const { installed, python } = pythonClients();
if (!installed) {
  process.stderr.write(
    'SKIPPED, for want of the Python clients: "npx tsx scripts/install-test-clients.ts" says why\n',
  );
}

interface Run {
  code: number | null;
  output: string;
}

describe.skipIf(!installed)('the official Python SDK', () => {
  let service: Awaited<ReturnType<typeof startWatchedService>>;
  let limited: TestService;
  const runs = new Map<string, Promise<Run>>();

  beforeAll(async () => {
    service = await startWatchedService({ TRADEWIND_RATE_LIMIT: '0' });
    limited = await startService({ TRADEWIND_RATE_LIMIT: '10' }, { role: 'api' });
    const environments = await Promise.all(FACES.map(environmentOf));
    service.takeOperations();
    for (const environment of environments) runs.set(environment.SDK_FACE, walk(environment));
  });
  afterAll(async () => {
    await service?.stop();
    await limited?.stop();
  });

  /** Each face gets its own account, as all run at once and must not see each other's things. */
  async function environmentOf(face: string) {
    return {
      SDK_FACE: face,
      GCORE_BASE_URL: `${service.url}/gcore`,
      GCORE_API_KEY: (await service.otherTenant()).http.token,
      LIMITED_BASE_URL: `${limited.url}/gcore`,
      LIMITED_API_KEY: (await limited.withRole('Users')).token,
    };
  }

  it.each(FACES)('walks through every served method: %s', { timeout: 900_000 }, async (face) => {
    const run = await runs.get(face);
    expect(run?.code, run?.output).toBe(0);
  });

  it('has done what docs/compatibility.md says', async () => {
    const outputs = (await Promise.all(runs.values())).map(({ output }) => output);
    const [figures, ...others] = outputs.map((output) => JSON.parse(/^\{.*\}$/m.exec(output)?.[0] ?? ''));
    for (const other of others) expect(other).toEqual(figures);
    const { version, methods, passed } = figures;
    record('python-sdk', {
      client: 'Official Python SDK, `gcore` from PyPI',
      pinned: version,
      passed: `${methods} methods, all whose operation is served, and ${passed} tests in each of ${FACES.length} faces (${FACES.join(', ')}), with strict validation of answers`,
      operations: service.takeOperations(),
    });
  });
});

/** Most of a walk is waiting for tasks. */
function walk(environment: Record<string, string | undefined>): Promise<Run> {
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--tb=short'];
  const child = spawn(python, args, {
    cwd: SCENARIO,
    env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
