import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { namedServer, startServer } from '../../kits/vitest/src/server.ts';

const KITS = path.resolve(import.meta.dirname, '../../kits');
/** Says something and is never ready. */
const NEVER = {
  TRADEWIND_COMMAND: "sh -c 'echo still starting; exec sleep 300'",
  TRADEWIND_READY_SECONDS: '0.3',
};
const isThere = (program: string, ...words: string[]) => spawnSync(program, words).status === 0;

afterEach(() => {
  vi.unstubAllEnvs();
});

it('an empty address is none', () => {
  expect(namedServer({ TRADEWIND_URL: '', GCORE_BASE_URL: '' })).toBeUndefined();
  const named = namedServer({
    TRADEWIND_URL: '',
    GCORE_BASE_URL: 'http://a.example/gcore',
    GCORE_API_KEY: 'k',
  });
  expect(named).toEqual({ url: 'http://a.example', token: 'k' });
});

it('Vitest does not wait for ever for a server, and shows what it said', async () => {
  for (const [name, value] of Object.entries(NEVER)) vi.stubEnv(name, value);
  await expect(startServer()).rejects.toThrow(/serve" was not ready within 0\.3 seconds:\nstill starting/);
});

it.skipIf(!isThere('python3', '-c', 'import pytest'))('nor does pytest', () => {
  const program = [
    'import tradewind_pytest as kit',
    'next(kit.tradewind_server.__wrapped__() if hasattr(kit.tradewind_server, "__wrapped__") else kit.tradewind_server._get_wrapped_function()())',
  ].join('\n');
  const { stderr } = spawnSync('python3', ['-c', program], {
    cwd: path.join(KITS, 'pytest'),
    env: { ...process.env, ...NEVER, TRADEWIND_URL: '', GCORE_BASE_URL: '' },
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/serve" was not ready within 0\.3 seconds:\nstill starting/);
});

it.skipIf(!isThere('go', 'version'))('nor does Go', () => {
  const words = ['test', '-count=1', '-run', 'TestARequestThatIsRefusedForAWhile', '.'];
  const { stdout } = spawnSync('go', words, {
    cwd: path.join(KITS, 'go'),
    env: { ...process.env, ...NEVER, TRADEWIND_URL: '', GCORE_BASE_URL: '' },
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/serve" was not ready within 0\.3 seconds:\s+still starting/);
});
