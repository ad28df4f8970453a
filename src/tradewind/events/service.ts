import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { TASK_ENDED } from '../../convergence/waiting-tasks.ts';
import { WANTED } from '../../convergence/wants.ts';
import type { ChangeFeed } from '../../db/changes.ts';
import type { Database, Sql, Transaction } from '../../db/database.ts';
import { type FieldProblem, TooManyRequestsError } from '../../lib/errors.ts';
import { closestName } from '../../lib/texts.ts';
import { isAdministrative } from '../../requests/event-types.ts';
import { allows, type Principal } from '../../requests/principal.ts';
import known from './known-types.json' with { type: 'json' };
import { type EventList, type EventsFilter, type EventsQuery, presentedEvent, type Told } from './schema.ts';
import { type EventRow, readable, readBetween, readWanted, type Wanted } from './store.ts';
import { BEAT_MS, createTail } from './tail.ts';

/** Which events a listener is told of: in SQL, and `matches` for those that are in memory. */
export interface Interest extends Wanted {
  matches(event: EventRow): boolean;
}

/** Returns what the caller asks for and may see. */
export function interestOf(
  principal: Principal,
  { type: types, project_id: projects, subject: subjects }: EventsFilter,
): Interest {
  const clientId = principal.platformAdministrator ? undefined : principal.clientId;
  const administers = allows(principal, 'administer');
  const matchers = types?.map(typeMatcher);
  return {
    clientId,
    subjects,
    projects,
    types,
    administers,
    matches: (event) =>
      (clientId === undefined || event.client_id === clientId) &&
      (projects === undefined || (event.project_id !== null && projects.includes(event.project_id))) &&
      (subjects === undefined || subjects.includes(event.subject)) &&
      (matchers === undefined || matchers.some((isMeant) => isMeant(event.type))) &&
      (administers || !isAdministrative(event.type)),
  };
}

/** `tradewind.task.*` means every type that begins with `tradewind.task.` */
export function typeMatcher(pattern: string): (type: string) => boolean {
  if (!pattern.endsWith('*')) return (type) => type === pattern;
  const beginning = pattern.slice(0, -1);
  return (type) => type.startsWith(beginning);
}

/** The types, and each resource with a star: what a list of types may name. */
const NAMES = [...known, ...new Set(known.map((type) => `${type.slice(0, type.lastIndexOf('.'))}.*`))].map(shortName);

/** Returns the problems of types that no event has, and of stars that stand for none. */
export function typeProblems(types: readonly string[]): FieldProblem[] {
  return types.flatMap((pattern, index) => {
    if (known.some(typeMatcher(pattern))) return [];
    const closest = closestName(shortName(pattern), NAMES);
    const hint =
      closest === undefined ? 'docs/reference/event-types.md lists the types.' : `Did you mean tradewind.${closest}?`;
    return [{ field: `types.${index}`, message: `No event has a type ${pattern}. ${hint}` }];
  });
}

/** What all types have in common would make any two of them look alike. */
function shortName(type: string): string {
  return type.replace(/^tradewind\./, '');
}

export { presentedEvent } from './schema.ts';
export type { EventRow } from './store.ts';

/** Events that are read at once for a list. */
const PAGE = 200;
/** Events that a stream is handed at once. It keeps them while its reader takes nothing. */
const STREAM_PAGE = 25;
/** Each needs memory and a connection of its own. */
const MOST_LISTENERS = 4_000;
const MOST_OF_ACCOUNT = 50;
const RETRY_SECONDS = 10;

/** What a listener is told next, and how far that is. */
interface Looked {
  events: EventRow[];
  upTo: number;
  /** Whether events are missing before these. */
  reset: boolean;
}

export interface Events {
  /** Says that this process has committed something. */
  wake(): void;
  /**
   * Follows what happens, from a cursor or from now on; a heartbeat comes at least every 15 seconds. Ends when `gone` is
   * aborted or the server stops. @throws TooManyRequestsError
   */
  follow(
    principal: Principal,
    filter: EventsFilter,
    from: { cursor: string | undefined; gone: AbortSignal },
  ): Promise<AsyncGenerator<Told>>;
  /** Returns the next events, and waits for the first of them. @throws TooManyRequestsError */
  list(
    principal: Principal,
    query: EventsQuery,
    from: { cursor: string | undefined; gone: AbortSignal },
  ): Promise<EventList>;
  /** Those who listen at this process, and for how long events for them have been held up. */
  figures(): { listeners: number; heldUpSeconds: number };
  /** Ends all streams, and answers waiting requests. Call it when the server stops. */
  stop(): void;
}

export function createEvents(deps: { database: Database; changes: ChangeFeed }): Events {
  const tail = createTail(deps.database);
  // Workers and requests announce most of what they do, so that nobody has to look often.
  for (const topic of [TASK_ENDED, WANTED]) deps.changes.on(topic, tail.wake, tail.wake);
  const listeners = new Map<number, number>();
  let count = 0;

  /** @throws TooManyRequestsError */
  function enter({ clientId, platformAdministrator }: Principal): () => void {
    const own = listeners.get(clientId) ?? 0;
    if (count >= MOST_LISTENERS || (own >= MOST_OF_ACCOUNT && !platformAdministrator)) {
      throw new TooManyRequestsError(
        `Too many listeners: an account may have ${MOST_OF_ACCOUNT} at a time, a process ${MOST_LISTENERS}; end one of them, or try again`,
        RETRY_SECONDS,
      );
    }
    listeners.set(clientId, own + 1);
    count++;
    const leaveTail = tail.enter();
    return () => {
      leaveTail();
      count--;
      const left = (listeners.get(clientId) ?? 1) - 1;
      if (left === 0) listeners.delete(clientId);
      else listeners.set(clientId, left);
    };
  }

  async function begin(
    { clientId }: Principal,
    cursor: string | undefined,
  ): Promise<{ position: number; reset: boolean }> {
    const settled = await tail.ready();
    const { from, to } = await tail.ask(clientId, readable);
    // Events may be deleted before anybody has read them.
    const now = Math.max(settled, from);
    if (cursor === undefined) return { position: now, reset: false };
    if (cursor === 'oldest') return { position: from, reset: false };
    const position = Number(cursor);
    // A cursor from the future is one of another database, or of one that was restored.
    return position < from || position > to ? { position: now, reset: true } : { position, reset: false };
  }

  /** Returns the next events after a position, and how far that was looked. */
  async function next(
    { clientId }: Principal,
    interest: Interest,
    { position, limit }: { position: number; limit: number },
  ): Promise<Looked> {
    const upTo = Math.max(position, tail.settled());
    if (upTo === position) return { events: [], upTo, reset: false };
    const known = tail.after(position);
    if (known) return firstOf(known, interest, { upTo, limit });
    const read = await tail.ask(clientId, (sql) => readWanted(sql, interest, { after: position, upTo, limit }));
    // Old events are deleted while somebody reads them.
    return read.forgotten > position ? { events: [], upTo, reset: true } : { ...read, reset: false };
  }

  return {
    wake: tail.wake,
    async follow(principal, filter, { cursor, gone }) {
      const interest = interestOf(principal, filter);
      const leave = enter(principal);
      const started = await begin(principal, cursor).catch((error: unknown) => {
        leave();
        throw error;
      });
      let left = false;
      const end = () => {
        if (!left) leave();
        left = true;
      };
      gone.addEventListener('abort', end);
      // Nobody reads what follows.
      if (gone.aborted) end();

      async function* told(): AsyncGenerator<Told> {
        let { position } = started;
        try {
          yield { events: [], reset: started.reset, cursor: String(position) };
          let toldAt = performance.now();
          while (!gone.aborted && !tail.stopped()) {
            const news = tail.news();
            const { events, upTo, reset } = await next(principal, interest, { position, limit: STREAM_PAGE });
            const isUpToDate = upTo === position;
            position = upTo;
            if (events.length > 0 || reset || performance.now() - toldAt >= BEAT_MS) {
              yield { events, reset, cursor: String(position) };
              toldAt = performance.now();
            } else if (isUpToDate) await news;
          }
        } finally {
          end();
        }
      }
      return told();
    },

    async list(principal, { wait = 0, limit = 100, ...filter }, { cursor, gone }) {
      const interest = interestOf(principal, filter);
      const leave = enter(principal);
      try {
        let { position, reset } = await begin(principal, cursor);
        const deadline = performance.now() + wait * 1_000;
        const events: EventRow[] = [];
        for (;;) {
          const news = tail.news();
          const found = await next(principal, interest, { position, limit: PAGE });
          const isUpToDate = found.upTo === position;
          position = found.upTo;
          if (found.reset) events.length = 0;
          reset ||= found.reset;
          events.push(...found.events);
          const left = deadline - performance.now();
          if (events.length >= limit || gone.aborted || tail.stopped()) break;
          if (!isUpToDate) continue;
          if (events.length > 0 || reset || left <= 0) break;
          const timer = new AbortController();
          await Promise.race([
            news,
            sleep(left, undefined, { signal: AbortSignal.any([timer.signal, gone]) }).catch(() => {}),
          ]);
          timer.abort();
        }
        const shown = events.slice(0, limit);
        const upTo = shown.length < events.length ? (shown.at(-1)?.position ?? position) : position;
        return { cursor: String(upTo), reset, events: shown.map(presentedEvent) };
      } finally {
        leave();
      }
    },
    figures: () => ({ listeners: count, heldUpSeconds: tail.heldUpSeconds() }),
    stop: () => tail.stop(),
  };
}

function firstOf(
  known: readonly EventRow[],
  interest: Interest,
  { upTo, limit }: { upTo: number; limit: number },
): Looked {
  const events: EventRow[] = [];
  for (const row of known) {
    if (interest.matches(row)) events.push(row);
    if (events.length === limit) return { events, upTo: row.position, reset: false };
  }
  return { events, upTo, reset: false };
}

/**
 * Reads every event once and in order, whichever processes die. The place is in the database, and moves in the
 * transaction of what is done with the events. Any number of processes may read in turns. Events are kept for a reader
 * that is behind, for longer than for others.
 */
export interface EventReader {
  /**
   * Does `work` with the next events. Returns how many there were: none also if there is nothing new, or if another
   * process is reading.
   */
  next(work: (tx: Transaction, events: EventRow[]) => Promise<void>): Promise<number>;
  /** Resolves at the next event, and after a while without one. */
  news(): Promise<void>;
  /**
   * Says after which position somebody wants what it reads; undefined if nobody does. Then the database is not asked, and
   * nothing is kept.
   */
  want(from: number | undefined): Promise<void>;
  stop(): void;
}

export function createEventReader(database: Pick<Database, 'sql' | 'transaction'>, name: string): EventReader {
  const tail = createTail(database);
  let leave: (() => void) | undefined;
  return {
    async next(work) {
      if (!leave) return 0;
      const upTo = tail.settled();
      return database.transaction(async (tx) => {
        const place = await placeOf(tx, name);
        if (!place) return 0;
        if (!place.active) {
          // Another process has stopped it. If it was wrong, since somebody wants it by now, `want` begins again.
          leave?.();
          leave = undefined;
          return 0;
        }
        const { position: after } = place;
        if (after >= upTo) return 0;
        const events = await readBetween(tx.sql, { after, upTo, limit: PAGE });
        if (events.length > 0) await work(tx, events);
        await moveTo(tx, name, events.length < PAGE ? upTo : (events.at(-1)?.position ?? upTo));
        return events.length;
      });
    },
    news: () => tail.news(),
    async want(from) {
      if (from === undefined) {
        if (leave) await stopReading(database.sql, name);
        leave?.();
        leave = undefined;
        return;
      }
      if (leave) return;
      await database.transaction((tx) => startReading(tx, name, from));
      leave = tail.enter();
      // So that what has happened is read at once. If a transaction takes long, it is read later.
      await tail.ready().catch(() => {});
    },
    stop: () => tail.stop(),
  };
}

/**
 * Keeps events after that position for this reader, unless it has read them. One that reads already is not waited for:
 * if it stops just now, it begins again when it sees who wants it.
 */
export async function startReading(tx: Transaction, name: string, from: number): Promise<void> {
  await sql`
    insert into event_readers (name, position, active) select ${name}, ${from}::bigint, true
    where not exists (select from event_readers where name = ${name} and active)
    on conflict (name) do update set active = true, position = case
      when event_readers.active then event_readers.position
      else greatest(event_readers.position, excluded.position) end`.execute(tx.sql);
}

async function stopReading(db: Sql, name: string): Promise<void> {
  await db.updateTable('event_readers').set({ active: false }).where('name', '=', name).execute();
}

/** Returns undefined while another process has it. */
async function placeOf(tx: Transaction, name: string): Promise<{ position: number; active: boolean } | undefined> {
  return tx.sql
    .selectFrom('event_readers')
    .select(['position', 'active'])
    .where('name', '=', name)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
}

async function moveTo(tx: Transaction, name: string, position: number): Promise<void> {
  await tx.sql.updateTable('event_readers').set({ position }).where('name', '=', name).execute();
}

/** Returns the position of what happened last: everything from now on has a larger one. */
export async function presentPosition(tx: Transaction): Promise<number> {
  const { rows } = await sql<{ position: number }>`
    select last_value as position from events_position`.execute(tx.sql);
  return rows[0]?.position ?? 0;
}
