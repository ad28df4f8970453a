import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'migrations/**/*.test.ts', 'bench/**/*.test.ts'],
    // Each file gets its own database; more workers than cores only makes them wait for each other.
    globalSetup: 'test/support/global-setup.ts',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
