import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'migrations/**/*.test.ts', 'bench/**/*.test.ts'],
    // Each file gets its own database; more workers than cores only makes them wait for each other.
    globalSetup: 'test/support/global-setup.ts',
    maxWorkers: 2,
    // Loading the product takes longer than most files do, so that files share a process and its modules.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Of the tests of one file that run at once: each has connections to the one database server.
    maxConcurrency: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
