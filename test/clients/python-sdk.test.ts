import { spawn } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonClients } from '../../scripts/install-test-clients.ts';
import { startService, type Tenant, type TestService } from '../support/service.ts';

/** The official Python SDK as it comes from PyPI, through each of its faces, against a server of its own. */
const FACES = ['sync', 'raw', 'streaming', 'async'];
const SCENARIO = path.join(import.meta.dirname, 'python');
const { installed, python } = pythonClients();
if (!installed) {
  process.stderr.write(
    'SKIPPED, for want of the Python clients: "node scripts/install-test-clients.ts" says why\n',
  );
}

interface Run {
  code: number | null;
  output: string;
}

describe.skipIf(!installed)('the official Python SDK', () => {
  let service: TestService;
  const runs = new Map<string, Promise<Run>>();

  beforeAll(async () => {
    service = await startService({ TRADEWIND_RATE_LIMIT: '500' });
    for (const face of FACES) runs.set(face, walk(service.url, await service.otherTenant(), face));
  });
  afterAll(() => service?.stop());

  it.each(FACES)('walks through every served method: %s', { timeout: 400_000 }, async (face) => {
    const run = await runs.get(face);
    expect(run?.code, run?.output).toBe(0);
  });
});

/** Most of a walk is waiting for tasks, so all of them go at once, each in an account of its own: what one makes, no other sees. */
function walk(url: string, { http }: Tenant, face: string): Promise<Run> {
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--tb=short'];
  const child = spawn(python, args, {
    cwd: SCENARIO,
    env: {
      PATH: process.env.PATH,
      PYTHONDONTWRITEBYTECODE: '1',
      GCORE_BASE_URL: `${url}/gcore`,
      GCORE_API_KEY: http.token,
      SDK_FACE: face,
    },
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
