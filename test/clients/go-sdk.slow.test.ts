import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activateAiFeatures } from '../support/ai-tasks.ts';
import { record, startWatchedService } from '../support/clients.ts';
import { startService, type TestService } from '../support/service.ts';
import { tlsBundle } from '../support/tls-bundles.ts';

/**
 * Runs the official Go SDK against a server of its own. TRADEWIND_TEST_GO_SDK names the folder of its source, as the
 * module proxy doesn't serve it everywhere.
 */
const SCENARIO = path.join(import.meta.dirname, 'go');
const source = process.env.TRADEWIND_TEST_GO_SDK ?? '';
const reason = whyNot();
if (reason !== undefined) process.stderr.write(`SKIPPED, ${reason}\n`);

function whyNot(): string | undefined {
  if (source === '') return 'for want of the Go SDK: TRADEWIND_TEST_GO_SDK names the folder of its source';
  return spawnSync('go', ['version']).status === 0 ? undefined : 'for want of Go, which runs the Go SDK';
}

describe.skipIf(reason !== undefined)('the official Go SDK', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-go-sdk-'));
  let service: Awaited<ReturnType<typeof startWatchedService>>;
  let limited: TestService;

  beforeAll(async () => {
    service = await startWatchedService({ TRADEWIND_RATE_LIMIT: '0' });
    limited = await startService({ TRADEWIND_RATE_LIMIT: '10' }, { role: 'api' });
  });
  afterAll(async () => {
    await service?.stop();
    await limited?.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  /** The scenario's own go.mod, with the named folder in place of the published module. */
  function moduleFile(): string {
    const file = path.join(folder, 'go.mod');
    const replaced = `replace github.com/G-Core/gcore-go => ${JSON.stringify(path.resolve(source))}`;
    fs.writeFileSync(file, `${fs.readFileSync(path.join(SCENARIO, 'go.mod'), 'utf8')}\n${replaced}\n`);
    fs.copyFileSync(path.join(SCENARIO, 'go.sum'), path.join(folder, 'go.sum'));
    return file;
  }

  it('walks through what is served', { timeout: 900_000 }, async () => {
    const tenant = await service.otherTenant();
    await activateAiFeatures(service.http, tenant.clientId);
    const environment = {
      ...process.env,
      GOFLAGS: '',
      GCORE_BASE_URL: `${service.url}/gcore`,
      GCORE_API_KEY: tenant.http.token,
      LIMITED_BASE_URL: `${limited.url}/gcore`,
      LIMITED_API_KEY: (await limited.withRole('Users')).token,
      TLS_BUNDLE: JSON.stringify(await tlsBundle()),
      FIGURES_FILE: path.join(folder, 'figures.json'),
    };
    service.takeOperations();
    const run = await goTest([`-modfile=${moduleFile()}`, '-count=1', '-timeout=14m', '-v', '.'], environment);
    expect(run.code, run.output).toBe(0);
    const figures = JSON.parse(fs.readFileSync(environment.FIGURES_FILE, 'utf8'));
    record('go-sdk', {
      client: 'Official Go SDK, `gcore-go`',
      pinned: figures.version,
      passed: `${figures.methods} methods, all whose operation is served, in ${figures.steps} steps; each answer has what the SDK requires; every field and value that it can send is taken. Run where its source is named`,
      operations: service.takeOperations(),
    });
  });
});

function goTest(args: string[], env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  const child = spawn('go', ['test', ...args], { cwd: SCENARIO, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
