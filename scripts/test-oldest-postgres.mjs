// Runs the tests that meet the SQL of Tradewind once more, on the oldest PostgreSQL that it supports.
import { spawnSync } from 'node:child_process';

/**
 * Each has a database of TEST_POSTGRES. What is refused before a query, or starts the embedded PostgreSQL, is the same
 * on both.
 */
const TESTS = [
  // Each statement once: of the migrations, of every operation, and of what it refuses.
  'test/meta/migrations.test.ts',
  'test/meta/every-error.test.ts',
  'test/meta/foreign-tenant.test.ts',
  'test/acceptance/every-operation.test.ts',
  'test/acceptance/client-walk.test.ts',
  'test/acceptance/upgrade.slow.test.ts',
  'src/db/database.test.ts',
  'src/requests',
  'src/streaming/ai-tasks/ai-tasks.test.ts',
  'src/streaming/ai-tasks/counts.test.ts',
  'src/streaming/ai-tasks/list.test.ts',
  'src/streaming/ai-tasks/steps.test.ts',
  /*
   * Locks, notifications and lost connections. The kills and the killed worker of many-processes show that work is
   * taken over, and connections lost, with this version too; how the engine then goes on, statement by statement or
   * from one release to another, is the same.
   */
  'src/convergence/listening.test.ts',
  'src/convergence/order.test.ts',
  'src/convergence/orphans.test.ts',
  'src/convergence/pursuit.test.ts',
  'src/convergence/task-end.test.ts',
  'src/convergence/undo.test.ts',
  'src/streaming/ai-tasks/work/queue.test.ts',
  'test/acceptance/concurrency.slow.test.ts',
  'test/acceptance/kills.slow.test.ts',
  'test/acceptance/many-processes.slow.test.ts',
];

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.log('Skipped: the tests on PostgreSQL 15 need its binaries, which are installed on linux-x64 only.');
} else {
  console.log('Every operation, the walks and the durable work on PostgreSQL 15:');
  const { status } = spawnSync('npx', ['vitest', 'run', ...TESTS], {
    stdio: 'inherit',
    env: { ...process.env, TEST_POSTGRES: '15' },
  });
  process.exitCode = status ?? 1;
}
