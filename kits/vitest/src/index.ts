import { test as base, inject } from 'vitest';
import { namedServer } from './server.ts';
import { Tradewind } from './tradewind.ts';

export { expect } from 'vitest';
export * from './tradewind.ts';

declare module 'vitest' {
  interface ProvidedContext {
    tradewind: { url: string; token: string };
  }
}

/** Returns the server of this run. */
export function server(): Tradewind {
  const found = inject('tradewind') ?? namedServer();
  if (found === undefined)
    throw new Error(
      'There is no server: add globalSetup: "@tradewind/vitest/setup" to the configuration of Vitest, or set TRADEWIND_URL and TRADEWIND_TOKEN.',
    );
  return new Tradewind(found.url, found.token);
}

export const test = base.extend<{
  /** The server after a reset: nothing has happened yet. Files that use it must not run at the same time. */
  tradewind: Tradewind;
  /** An account of its own for the test. Such tests may run at the same time. */
  tenant: Awaited<ReturnType<Tradewind['makeTenant']>>;
}>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from it what the fixture needs.
  tradewind: async ({}, use) => {
    const tradewind = server();
    await tradewind.reset();
    await use(tradewind);
  },
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from it what the fixture needs.
  tenant: async ({}, use) => {
    await use(await server().makeTenant());
  },
});
