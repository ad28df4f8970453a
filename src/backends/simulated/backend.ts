import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import type { Secrets } from '../../secrets/secrets.ts';
import { type Backend, type Convergence, type Kind, Refused } from '../contract/backend.ts';
import { holdsData } from '../contract/placement.ts';
import type { Observations, Specs } from '../contract/specs.ts';
import type { Health } from './health.ts';
import { freeHost, placeMachine, refuseLargePools } from './hosts.ts';
import { LIVES, type Life, type Phase } from './lives.ts';
import { simulatedLoad } from './load.ts';
import {
  deleteObject,
  findObject,
  insertObject,
  madeOf,
  madeOnce,
  type SimulatedObject,
  updateObject,
} from './objects.ts';

const REMOVING = 'removing';

/**
 * Infrastructure that exists only in a database table. Things get ready as time passes: their progress
 * follows from when their last change began, by the database's clock, so that restarts and repeated calls
 * change nothing.
 */
export function createSimulatedBackend(deps: {
  sql: Kysely<Tables>;
  secrets: Secrets;
  /** May change while work is in progress. */
  readonly speed: number;
  health?: Health;
  /** How many hosts there are for machines; unlimited if not given. */
  hosts?: number | undefined;
}): Backend {
  const { sql: pool, secrets, health = [], hosts } = deps;

  async function present<K extends Kind>(
    db: Kysely<Tables>,
    kind: K,
    id: string,
    spec: Specs[K],
    signal: AbortSignal,
  ): Promise<Convergence<Observations[K]> | undefined> {
    const life: Life<K> = LIVES[kind];
    life.refuse?.(spec);
    const found = await findObject(db, kind, id);
    // After an abort, another worker may have removed the thing: it must not come back.
    signal.throwIfAborted();
    await place(db, kind, id, spec, hosts);
    const standing = found?.doing === REMOVING ? undefined : found;
    if (!standing || !isDeepStrictEqual(standing.spec, spec)) {
      const phases = standing ? life.changing(standing.spec as Specs[K], spec) : life.making(spec);
      const takesMs = total(phases) / deps.speed;
      const beginning = { spec, doing: standing ? 'changing' : 'making', takesMs };
      const done = found
        ? await updateObject(db, kind, id, found.revision, beginning)
        : await insertObject(db, kind, id, beginning);
      return done ? answer({ age_ms: 0, takes_ms: takesMs }, phases) : undefined;
    }
    const phases =
      standing.doing === 'making'
        ? life.making(spec)
        : [{ state: 'changing', ms: standing.takes_ms * deps.speed }];
    return answer(standing, phases);

    async function answer(at: Parameters<typeof stateOf>[0], phases: readonly Phase[]) {
      const doing = stateOf(at, phases);
      return doing ?? ({ state: 'settled', observed: await observed() } as const);
    }

    async function observed(): Promise<Observations[K]> {
      const made = life.makes ? await madeOnce({ sql: db, secrets }, kind, id, life.makes) : {};
      return life.observed(id, made, spec, health);
    }
  }

  async function refuseLost(db: Kysely<Tables>, kind: Kind, id: string): Promise<void> {
    const found = await findObject(db, kind, id);
    if (found && found.doing !== REMOVING) return;
    const named = kind.replaceAll('_', ' ');
    throw new Refused(`the ${named} has disappeared from the infrastructure with everything it held`);
  }

  async function absent<K extends Kind>(
    db: Kysely<Tables>,
    kind: K,
    id: string,
  ): Promise<Convergence<null> | undefined> {
    const found = await findObject(db, kind, id);
    if (!found) {
      // Whoever made it may have died between finding a host and making it.
      if (kind === 'machine') await freeHost(db, id);
      return { state: 'settled', observed: null };
    }
    const { removing } = LIVES[kind];
    if (found.doing !== REMOVING) {
      const takesMs = removing.ms / deps.speed;
      if (
        !(await updateObject(db, kind, id, found.revision, { spec: found.spec, doing: REMOVING, takesMs }))
      ) {
        return undefined;
      }
      if (takesMs >= 1) return progressing(removing.state, takesMs);
      found.revision += 1;
    } else if (found.age_ms < found.takes_ms) {
      return progressing(removing.state, found.takes_ms - found.age_ms);
    }
    const gone = await deleteObject(db, kind, id, found.revision);
    if (gone && kind === 'machine') await freeHost(db, id);
    return gone ? { state: 'settled', observed: null } : undefined;
  }

  /** Returns the phase for the object's age; undefined once all phases are over. */
  function stateOf(
    { age_ms: age, takes_ms: takes }: Pick<SimulatedObject, 'age_ms' | 'takes_ms'>,
    phases: readonly Phase[],
  ): ReturnType<typeof progressing> | undefined {
    if (takes - age < 1) return undefined;
    let end = 0;
    for (const { state, ms } of phases) {
      end += ms / deps.speed;
      if (age < end) return progressing(state, end - age);
    }
    return progressing('finishing', takes - age);
  }

  return {
    problems: () => [],
    converge({ kind, id }, spec, { signal, wasThere }) {
      // Uses one connection for reading and writing: a call that waits for a connection in between would
      // write stale data.
      return pool.connection().execute(async (db) => {
        signal.throwIfAborted();
        if (spec !== null && wasThere && holdsData(kind)) await refuseLost(db, kind, id);
        // If another process did the same step first, look again.
        for (;;) {
          const answer =
            spec === null ? await absent(db, kind, id) : await present(db, kind, id, spec, signal);
          if (answer) return answer;
        }
      });
    },
    async observe({ kind, id }) {
      const found = await findObject(pool, kind, id);
      if (!found || found.doing === REMOVING) return null;
      const life: Life<typeof kind> = LIVES[kind];
      const made = life.makes ? await madeOf({ sql: pool, secrets }, kind, id) : {};
      return made && life.observed(id, made, found.spec as Specs[typeof kind], health);
    },
    loadOf: async (_ref, question) => simulatedLoad(question),
    // Only other rules change the health of members, and a backend with other rules is a new one.
    async *watch({ signal }) {
      const balancers = pool.selectFrom('simulated_objects').select('id').where('kind', '=', 'load_balancer');
      for (const { id } of await balancers.execute()) yield { kind: 'load_balancer', id };
      if (!signal.aborted) await once(signal, 'abort');
    },
    async *list() {
      const rows = await pool.selectFrom('simulated_objects').select(['kind', 'id']).execute();
      for (const { kind, id } of rows) yield { kind: kind as Kind, id, handle: null };
    },
  };
}

/** @throws Refused if the hosts are too few for a placement group */
async function place(
  db: Kysely<Tables>,
  kind: Kind,
  id: string,
  spec: Specs[Kind],
  hosts: number | undefined,
): Promise<void> {
  if (hosts === undefined) return;
  if (kind === 'machine') await placeMachine(db, id, (spec as Specs['machine']).serverGroupId, hosts);
  if (kind === 'cluster') refuseLargePools(spec as Specs['cluster'], hosts);
}

function progressing(doing: string, leftMs: number) {
  return { state: 'progressing', doing, askAgainMs: Math.ceil(leftMs) } as const;
}

function total(phases: readonly Phase[]): number {
  return phases.reduce((sum, { ms }) => sum + ms, 0);
}
