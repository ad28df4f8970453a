/* The door of the test kit: what testers ask of a server with TRADEWIND_TEST_API, and what a seed puts into it at its start. */
export { createTestKit } from './kit.ts';
export { createTestKitParts, type TestKitParts } from './parts.ts';
export { prepareTestKit } from './routes.ts';
export { applySeed, createSeedCallers } from './seed/apply.ts';
export { readSeed, type Seed } from './seed/file.ts';
export { sendTo } from './seed/requests.ts';
