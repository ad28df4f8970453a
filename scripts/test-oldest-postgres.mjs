// Runs the tests that meet every statement of SQL once more, on the oldest PostgreSQL that Tradewind supports.
import { spawnSync } from 'node:child_process';

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.log(
    'Skipped: the tests on PostgreSQL 15 need its binaries, which are installed on linux-x64 only.',
  );
} else {
  console.log('Every operation, the walks and the durable work on PostgreSQL 15:');
  // AI engines don't know which PostgreSQL there is.
  const engines = [
    '--exclude',
    'test/acceptance/ai-tasks.test.ts',
    '--exclude',
    'src/streaming/ai-tasks/fetching/**',
  ];
  const { status } = spawnSync(
    'npx',
    [
      'vitest',
      'run',
      'test/acceptance',
      'test/meta',
      'src/streaming',
      'src/workflows',
      'src/requests',
      ...engines,
    ],
    {
      stdio: 'inherit',
      env: { ...process.env, TEST_POSTGRES: '15' },
    },
  );
  process.exitCode = status ?? 1;
}
