import type { NamedBackend } from '../backends/backends.ts';
import type { Inspection } from '../foundation.ts';
import { orphansIn } from './catalog-checks.ts';
import { findingsOf } from './doctor.ts';
import type { Prepared } from './preparation.ts';

/** A look starts programs and lists everything in every backend, so callers share one for a while. */
const KEPT_MS = 30_000;
const MOST_SHOWN = 1_000;

/** Looks at a process as the commands "doctor" and "orphans list" do. */
export function createInspection({
  config,
  database,
  backends,
}: Pick<Prepared, 'config' | 'database'> & { backends: { all(): NamedBackend[] } }): Inspection {
  return {
    checks: kept(async () => {
      const findings = await findingsOf(config);
      return { results: findings.map(({ what, ...found }) => ({ name: what, ...found })) };
    }),
    orphans: kept(async () => {
      const looks = await Promise.all(
        backends.all().map(async (named) => ({ backend: named.name, ...(await orphansIn(database.sql, named)) })),
      );
      const all = looks.flatMap(({ backend, orphans }) => orphans.map((orphan) => ({ backend, ...orphan })));
      const results = all.slice(0, MOST_SHOWN).map(({ backend, kind, id, handle }) => ({
        ...{ backend, kind, id },
        handle: handle === null ? null : JSON.stringify(handle),
      }));
      const problems = looks.flatMap(({ backend, problem }) => (problem === null ? [] : [{ backend, problem }]));
      return { count: all.length, results, problems };
    }),
  };
}

/** Those who ask soon after each other share an answer. */
function kept<Found extends object>(look: () => Promise<Found>): () => Promise<Found & { checked_at: string }> {
  let last: Promise<Found & { checked_at: string }> | undefined;
  const forget = () => {
    last = undefined;
  };
  async function lookNow() {
    try {
      const found = { checked_at: new Date().toISOString(), ...(await look()) };
      setTimeout(forget, KEPT_MS).unref();
      return found;
    } catch (error) {
      forget();
      throw error;
    }
  }
  return () => {
    last ??= lookNow();
    return last;
  };
}
