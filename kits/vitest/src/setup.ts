import type { TestProject } from 'vitest/node';
import { namedServer, startServer } from './server.ts';

/** For `globalSetup`: all test files share the server that the environment names, or else one that starts here. */
// biome-ignore lint/style/noDefaultExport: Vitest calls it.
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const named = namedServer();
  const { stop, ...server } = named ?? (await startServer());
  project.provide('tradewind', server);
  return stop;
}
