// Runs the tests that speak SQL or HTTP once more, on the oldest PostgreSQL that Tradewind supports.
import { spawnSync } from 'node:child_process';

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.log(
    'Skipped: the tests on PostgreSQL 15 need its binaries, which are installed on linux-x64 only.',
  );
} else {
  console.log('The same tests on PostgreSQL 15:');
  const { status } = spawnSync(
    'npx',
    ['vitest', 'run', 'test/acceptance', 'src/cloud', 'src/iam', 'src/streaming', 'src/workflows'],
    {
      stdio: 'inherit',
      env: { ...process.env, TEST_POSTGRES: '15' },
    },
  );
  process.exitCode = status ?? 1;
}
