import { defineConfig } from 'vitest/config';

// All files share one server, which each test resets.
export default defineConfig({ test: { globalSetup: '@tradewind/vitest/setup', fileParallelism: false } });
