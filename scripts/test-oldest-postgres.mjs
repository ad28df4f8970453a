// Runs the tests that send every SQL statement again, on the oldest PostgreSQL that Tradewind supports.
import { spawnSync } from 'node:child_process';

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.log(
    'Skipped: the tests on PostgreSQL 15 need its binaries, which are installed on linux-x64 only.',
  );
} else {
  console.log('Every operation, the walks and the durable work on PostgreSQL 15:');
  // These only use the embedded PostgreSQL or none, or are only about releases.
  const others = [
    'test/acceptance/ai-tasks.test.ts',
    'test/acceptance/documents.test.ts',
    'test/acceptance/embedded.test.ts',
    'test/acceptance/faults/**',
    'test/acceptance/event-loop.test.ts',
    'test/acceptance/rolling-upgrade.test.ts',
    'src/streaming/ai-tasks/fetching/**',
    'src/streaming/ai-tasks/work/sandbox.test.ts',
  ].flatMap((name) => ['--exclude', name]);
  const { status } = spawnSync(
    'npx',
    [
      'vitest',
      'run',
      'test/acceptance',
      'test/meta',
      'src/streaming',
      'src/convergence',
      'src/requests',
      ...others,
    ],
    {
      stdio: 'inherit',
      env: { ...process.env, TEST_POSTGRES: '15' },
    },
  );
  process.exitCode = status ?? 1;
}
