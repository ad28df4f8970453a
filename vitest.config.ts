import { configDefaults, defineConfig } from 'vitest/config';
import { StoriesFirst } from './test/support/stories-first.ts';

const TESTS = '{src,cli,engines,kubernetes,openstack,postgres,simulation,test-kit,test,migrations,bench}/**/*.test.ts';
const SLOW = '**/*.slow.test.ts';
const CONSOLE = 'test/console/**/*.test.ts';
const MINUTE = 60_000;

const shared = {
  // Loading the product takes longer than most files do, so that files share a process and its modules.
  isolate: false,
  // Each file gets its own database. Fast tests often wait for a process or a clock: with a worker for each of two cores,
  // both had nothing to do for a third of the time. They have four (package.json). Slow ones start many processes themselves.
  maxWorkers: 2,
  // Of the tests of one file that run at once: each has connections to the one database server.
  maxConcurrency: 3,
  // What counts is that they end. A busy machine may do nothing for a process for many seconds.
  testTimeout: 3 * MINUTE,
  hookTimeout: 3 * MINUTE,
  expect: { poll: { timeout: MINUTE } },
  slowTestThreshold: 5_000,
};

export default defineConfig({
  test: {
    globalSetup: 'test/support/global-setup.ts',
    // The second run, on PostgreSQL 15, takes over what the first one translated.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: StoriesFirst },
    include: [TESTS],
    projects: [
      {
        test: { ...shared, name: 'fast', include: [TESTS], exclude: [...configDefaults.exclude, SLOW, CONSOLE] },
      },
      {
        // Each has a browser, which wants a processor for itself.
        test: { ...shared, name: 'console', include: [CONSOLE], exclude: [...configDefaults.exclude, SLOW] },
      },
      {
        // They start processes, kill them and install packages.
        test: { ...shared, name: 'slow', include: [SLOW], testTimeout: 5 * MINUTE, hookTimeout: 5 * MINUTE },
      },
    ],
  },
});
