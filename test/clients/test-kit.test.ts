import { execFile, execFileSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonClients } from '../../scripts/test-programs.ts';
import { startService, type TestService } from '../support/service.ts';

/** Runs the examples of the test kit as their readers would, one after the other against one server. */
const EXAMPLES = path.join(import.meta.dirname, '../../examples/testing');
const VITEST = path.join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs');
const { installed, python } = pythonClients();
const hasGo = canRun('go', 'version');
for (const [has, what] of [
  [installed, 'the Python clients'],
  [hasGo, 'Go'],
] as const) {
  if (!has) process.stderr.write(`SKIPPED, for want of ${what}: an example of the test kit\n`);
}

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true', TRADEWIND_LOG_LEVEL: 'silent' });
});
afterAll(() => service.stop());

/** Runs a program of an example, and returns what it says. */
async function run(folder: string, program: string, ...args: string[]): Promise<string> {
  const cwd = path.join(EXAMPLES, folder);
  const env = { ...process.env, TRADEWIND_URL: service.url, TRADEWIND_TOKEN: service.http.token };
  const { stdout, stderr } = await promisify(execFile)(program, args, { cwd, env }).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
  return stdout + stderr;
}

describe('the example for', () => {
  it('Vitest makes a hundred and nine tests on one server', async () => {
    const text = await run('vitest', process.execPath, VITEST, 'run', '--reporter=json');
    const { numPassedTests, startTime, testResults } = JSON.parse(text.slice(text.indexOf('{')));
    expect(numPassedTests).toBe(109);
    const ms = testResults[0].endTime - startTime;
    process.stderr.write(`test kit: 108 tests with a reset before each in ${Math.round(ms)} ms\n`);
  }, 120_000);

  it.skipIf(!installed)(
    'pytest',
    async () => {
      const text = await run('pytest', python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider');
      expect(text).toContain('6 passed');
    },
    120_000,
  );

  it.skipIf(!hasGo)(
    'Go',
    async () => {
      expect(await run('go', 'go', 'test', '-count=1', './...')).toContain('ok');
    },
    300_000,
  );
});

function canRun(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
