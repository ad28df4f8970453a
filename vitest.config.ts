import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

export default defineConfig({
  test: {
    include: [
      '{src,cli,engines,kubernetes}/**/*.test.ts',
      'test/**/*.test.ts',
      'migrations/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    globalSetup: 'test/support/global-setup.ts',
    // Each file gets its own database. Tests often wait for a process or a clock: with a worker for each of two cores,
    // both had nothing to do for a third of the time.
    maxWorkers: 3,
    // Loading the product takes longer than most files do, so that files share a process and its modules.
    isolate: false,
    // The second run, on PostgreSQL 15, takes over what the first one translated.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
    // Of the tests of one file that run at once: each has connections to the one database server.
    maxConcurrency: 3,
    testTimeout: 30_000,
    // A busy machine may do nothing for this process for seconds; by default, they wait for one.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 60_000,
  },
});
