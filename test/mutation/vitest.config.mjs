import { defineConfig } from 'vitest/config';
import { MODULES } from './modules.mjs';

/** Without the global setup, which starts PostgreSQL: none of these tests needs it. */
export default defineConfig({
  test: { include: MODULES.map((module) => `${module}.test.ts`) },
});
