import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { BackendRouter } from '../backends/backends.ts';
import { type Backend, Unavailable } from '../backends/contract/backend.ts';
import type { Database } from '../db/database.ts';
import { loop, untilAborted } from '../lib/loop.ts';
import { type Name, WANTED } from './wants.ts';

/** How soon to listen again to a backend that stopped reporting, or to one from a new catalogue. */
const LOOK_MS = 5_000;

/** Makes things due at once when their backend reports a change. What backends miss is found by comparing. */
export function listenToBackends(deps: { backends: Pick<BackendRouter, 'all'>; database: Database; log: Logger }) {
  const { backends, database, log } = deps;
  const listened = new Map<Backend, AbortController>();

  async function listen(name: string, backend: Backend, { signal }: AbortController): Promise<void> {
    const changes = backend.watch?.({ log, signal }) ?? [];
    try {
      for await (const one of changes) await lookAt(database, one);
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof Unavailable ? { why: error.message } : { err: error };
      log.warn({ backend: name, ...why }, 'a backend stopped reporting changes');
    }
  }

  const looking = loop('listening to backends', LOOK_MS, log, async () => {
    const telling = new Map(backends.all().map(({ name, backend }) => [backend, name]));
    for (const [backend, ending] of listened) if (!telling.has(backend)) ending.abort();
    for (const [backend, name] of telling) {
      if (!backend.watch || listened.has(backend)) continue;
      const ending = new AbortController();
      listened.set(backend, ending);
      void untilAborted(ending.signal, listen(name, backend, ending))
        .catch(() => {})
        .finally(() => listened.delete(backend));
    }
  });
  return {
    async stop() {
      await looking.stop();
      for (const ending of listened.values()) ending.abort(new Error('The process stops'));
    },
  };
}

async function lookAt(
  { sql: db, announce }: Database,
  { kind, id, seen = null }: Name & { seen?: string | null },
): Promise<void> {
  const { numAffectedRows } = await sql`
    update wants set due_at = clock_timestamp()
      where kind = ${kind} and id = ${id} and (due_at is null or due_at > clock_timestamp())
        and (${seen}::text is null or handle ->> 'seen' is distinct from ${seen})`.execute(db);
  if (numAffectedRows) announce(WANTED);
}
