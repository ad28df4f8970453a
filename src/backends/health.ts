import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Backend } from './contract/backend.ts';

/** How long a backend may take to answer. */
const PATIENCE_MS = 3_000;

/** Returns what is wrong with the backend; undefined if it is well or can't be asked. */
export async function troubleOf(backend: Backend, log: Logger, patienceMs = PATIENCE_MS): Promise<string | undefined> {
  if (!backend.health) return undefined;
  const over = new AbortController();
  const late = sleep(patienceMs, `it does not answer within ${patienceMs / 1000} s`, { signal: over.signal });
  const asked = new AbortController();
  try {
    return await Promise.race([backend.health({ log, signal: asked.signal }), late]);
  } catch (error) {
    return (error as Error).message || String(error);
  } finally {
    asked.abort();
    over.abort();
    late.catch(() => {});
  }
}
