import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { NamedBackend } from '../backends/backends.ts';
import type { Json, Kind, Ref } from '../backends/contract/backend.ts';
import { FAMILIES } from '../backends/contract/needs.ts';
import type { Database, Sql, Transaction } from '../db/database.ts';
import { isUuid } from '../lib/ids.ts';
import { untilAborted } from '../lib/loop.ts';
import { keyOf, WANTED } from './wants.ts';

/** Suspects are checked again after this time, since things come and go while they are being listed. */
const LOOK_AGAIN_MS = 2_000;
/** A backend that takes longer to list its things is skipped until the next time. */
const PATIENCE_MS = 300_000;
/** How many of the listed things are observed individually: a list may contain more than exists. */
const SAMPLE = 100;
const QUESTIONS = 8;
const CHUNK = 5_000;

/** Something that a backend has and nobody wants. */
export type Orphan = Pick<Ref, 'kind' | 'id' | 'handle'> & { regionId?: number };

/** Something wanted that once existed and that no worker is busy with. */
interface Settled extends Ref {
  generation: number;
  observed: object | null;
}

export interface Findings {
  orphans: Orphan[];
  /** Things that are wanted and existed, but no longer do. */
  drifted: Settled[];
  /** Things of which something else is seen than before, or which are there twice. */
  changed: Settled[];
}

interface Looking {
  sql: Sql;
  log: Logger;
  signal: AbortSignal;
}

/** Compares what a backend has with what is wanted of it. Things that come or go meanwhile are ignored. */
export async function compare(deps: Looking, named: NamedBackend): Promise<Findings> {
  const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(PATIENCE_MS)]);
  const first = await look({ ...deps, signal }, named);
  if (first.orphans.length + first.drifted.length === 0) return first;
  await sleep(LOOK_AGAIN_MS, undefined, { signal });
  const suspects = new Set(first.drifted.map(generationOf));
  const second = await look({ ...deps, signal }, named, suspects);
  const strays = new Set(first.orphans.map(keyOf));
  return {
    orphans: second.orphans.filter((one) => strays.has(keyOf(one))),
    drifted: second.drifted.filter((one) => suspects.has(generationOf(one))),
    changed: first.changed,
  };
}

const generationOf = (one: Settled): string => `${keyOf(one)} ${one.generation}`;

/**
 * The order matters. What was settled before listing is in the list, and what is in the list was wanted
 * before, so it is still wanted unless it has been removed.
 */
async function look(deps: Looking, named: NamedBackend, suspects?: ReadonlySet<string>): Promise<Findings> {
  const settled = await settledOf(deps.sql, named);
  const listed = new Map<string, Orphan>();
  const doubled = new Set<string>();
  await untilAborted(deps.signal, collect(deps, named, listed, doubled));
  const there = settled.filter((one) => listed.has(keyOf(one)));
  const asked = suspects ? there.filter((one) => suspects.has(generationOf(one))) : sampleOf(there);
  const { gone, changed } = await untilAborted(deps.signal, observe(deps, named, asked));
  const other = there.filter((one) => doubled.has(keyOf(one)) || looksOther(one, listed.get(keyOf(one))));
  return {
    orphans: await unwanted(deps.sql, [...listed.values()]),
    drifted: [...settled.filter((one) => !listed.has(keyOf(one))), ...gone],
    changed: [...new Set([...changed, ...other])],
  };
}

async function collect(
  deps: Looking,
  { backend }: NamedBackend,
  into: Map<string, Orphan>,
  doubled: Set<string>,
): Promise<void> {
  for await (const one of backend.list(deps)) {
    deps.signal.throwIfAborted();
    if (into.has(keyOf(one))) doubled.add(keyOf(one));
    into.set(keyOf(one), one);
  }
}

/** Whether the list says another `seen` than the thing had when it settled. */
function looksOther({ handle: former }: Settled, listed: Orphan | undefined): boolean {
  const [before, now] = [seenIn(former), seenIn(listed?.handle ?? null)];
  return before !== undefined && now !== undefined && before !== now;
}

const seenIn = (handle: Json): Json | undefined =>
  typeof handle === 'object' && handle !== null && !Array.isArray(handle) ? handle.seen : undefined;

/** Their state changes although nobody wants it. */
const LIVELY: ReadonlySet<Kind> = new Set(['load_balancer', 'machine']);

/** Returns the things that the backend has lost, and those that have changed. If it doesn't answer, the next round asks again. */
async function observe({ log, signal }: Looking, { backend }: NamedBackend, asked: readonly Settled[]) {
  const limit = pLimit(QUESTIONS);
  const answers = await limit.map(asked, async (ref) => {
    const call = { log, signal, generation: ref.generation, wasThere: true, secret: async () => undefined };
    return backend.observe(ref, call).catch((error: unknown) => {
      log.debug({ err: error, want: keyOf(ref) }, 'a backend could not list its resources');
      return 'unknown';
    });
  });
  const isChanged = ({ kind, observed }: Settled, answer: unknown) =>
    LIVELY.has(kind) && typeof answer === 'object' && answer !== null && !isDeepStrictEqual(plain(answer), observed);
  return {
    gone: asked.filter((_ref, index) => answers[index] === null),
    changed: asked.filter((ref, index) => isChanged(ref, answers[index])),
  };
}

/** As the database keeps it. */
const plain = (observed: object): unknown => JSON.parse(JSON.stringify(observed));

function sampleOf(settled: readonly Settled[]): Settled[] {
  if (settled.length <= SAMPLE) return [...settled];
  const from = Math.floor(Math.random() * settled.length);
  return [...settled.slice(from), ...settled.slice(0, from)].slice(0, SAMPLE);
}

async function settledOf(db: Sql, { regionsOf }: NamedBackend): Promise<Settled[]> {
  const each = kinds.flatMap((kind) => regionsOf(kind).map((region_id) => ({ kind, region_id })));
  const { rows } = await sql<Settled>`
    select kind, id, region_id as "regionId", project_id as "projectId", generation, handle, observed
    from wants join jsonb_to_recordset(${JSON.stringify(each)}::jsonb) as each (kind text, region_id bigint)
      using (kind, region_id)
    where ${IN_PEACE}`.execute(db);
  return rows;
}

const kinds: Kind[] = Object.values(FAMILIES).flat();
/** As wanted when last checked, and not claimed. */
const IN_PEACE = sql`wants.spec is not null and wants.settled_generation = wants.generation and wants.due_at is null
  and wants.worker_id is null`;

/**
 * Disks that are wanted as part of a cluster but marked as volumes. Disks being removed stay known while a
 * task removes them.
 */
const DISKS_OF_NODES = sql`
  select (node ->> 'bootVolumeId')::uuid
  from (
    select spec from wants where kind = 'cluster' union all select undo from task_wants where kind = 'cluster'
  ) as known, jsonb_path_query(spec, '$.pools.*.nodes.*') as node`;

async function unwanted(db: Sql, listed: readonly Orphan[]): Promise<Orphan[]> {
  const found: Orphan[] = [];
  for (let from = 0; from < listed.length; from += CHUNK) {
    const chunk = listed.slice(from, from + CHUNK);
    const names = chunk.filter(({ id }) => isUuid(id)).map(({ kind, id }) => ({ kind, id }));
    const { rows } = await sql<{ kind: Kind; id: string }>`
      with listed as (select * from jsonb_to_recordset(${JSON.stringify(names)}::jsonb) as listed (kind text, id uuid))
      select kind, id from listed join wants using (kind, id)
      union all
      select kind, id from listed where kind = 'volume' and id in (${DISKS_OF_NODES})`.execute(db);
    const wanted = new Set(rows.map(keyOf));
    found.push(...chunk.filter((one) => !wanted.has(keyOf({ ...one, id: one.id.toLowerCase() }))));
  }
  return found;
}

/**
 * Wants orphans not to exist, so that workers remove them, unless they are wanted by now. Returns those that will be
 * removed. An operator has to remove orphans without an ID of ours, and those of kinds that no region gets from this backend.
 */
export async function removeOrphans(
  tx: Transaction,
  { regionsOf }: NamedBackend,
  orphans: readonly Orphan[],
): Promise<Orphan[]> {
  const rows = orphans.flatMap(({ kind, id, handle, regionId }) => {
    const regions = regionsOf(kind);
    const region_id = regionId === undefined ? regions[0] : regions.find((one) => one === regionId);
    return region_id === undefined || !isUuid(id) ? [] : [{ kind, id, handle, region_id }];
  });
  const { rows: removed } = await sql<Orphan>`
    insert into wants (kind, id, client_id, project_id, region_id, spec, handle, due_at)
    select kind, id, 0, 0, region_id, null, handle, clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as orphan (kind text, id uuid, handle jsonb, region_id bigint)
    on conflict do nothing returning kind, id, handle`.execute(tx.sql);
  tx.announce(WANTED);
  return removed;
}

/**
 * Makes drifted things due again, unless they were changed meanwhile, and returns their keys. Backends don't
 * make anew what held data: see `Call.wasThere`.
 */
export async function bringBack(database: Database, drifted: readonly Settled[]): Promise<string[]> {
  const names = drifted.map(({ kind, id, generation }) => ({ kind, id, generation }));
  return database.transaction(async (tx) => {
    const { rows } = await sql<{ kind: Kind; id: string }>`
      update wants set due_at = clock_timestamp()
      from jsonb_to_recordset(${JSON.stringify(names)}::jsonb) as drifted (kind text, id uuid, generation bigint)
      where wants.kind = drifted.kind and wants.id = drifted.id and wants.generation = drifted.generation and ${IN_PEACE}
      returning wants.kind, wants.id`.execute(tx.sql);
    tx.announce(WANTED);
    return rows.map(keyOf);
  });
}
