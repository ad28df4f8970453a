import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { BackendRouter } from '../backends/backends.ts';
import { troubleOf } from '../backends/health.ts';
import { loop } from '../lib/loop.ts';

const ASK_MS = 15_000;

/** What is wrong with backends, by backend name. */
export type Troubles = Record<string, string>;

/**
 * Checks the health of every backend periodically, and reports changes to the log and to `changed`. Resolves
 * once each backend was asked.
 */
export async function watchBackends(deps: {
  backends: Pick<BackendRouter, 'all'>;
  log: Logger;
  registry: Registry;
  changed(troubles: Troubles): void;
}): Promise<{ stop(): Promise<void> }> {
  const { backends, log, registry, changed } = deps;
  const up = new Gauge({
    name: 'tradewind_backend_up',
    help: 'Whether a backend answers and is healthy',
    labelNames: ['backend'],
    registers: [registry],
  });
  let known: Troubles = {};

  async function ask(): Promise<void> {
    const troubles: Troubles = {};
    up.reset();
    await Promise.all(
      backends.all().map(async ({ name, backend }) => {
        const trouble = await troubleOf(backend, log);
        up.set({ backend: name }, trouble === undefined ? 1 : 0);
        if (trouble !== undefined) troubles[name] = trouble;
      }),
    );
    for (const [backend, why] of Object.entries(troubles))
      if (known[backend] !== why) log.warn({ backend, why }, 'a backend is not healthy; changes to its resources wait');
    for (const backend of Object.keys(known))
      if (!(backend in troubles)) log.info({ backend }, 'a backend is healthy again');
    if (JSON.stringify(troubles) !== JSON.stringify(known)) changed(troubles);
    known = troubles;
  }

  let first = () => {};
  const asked = new Promise<void>((resolve) => {
    first = resolve;
  });
  const asking = loop('checking the health of backends', ASK_MS, log, () => ask().finally(first));
  await asked;
  return asking;
}
