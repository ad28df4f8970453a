import { setTimeout as sleep } from 'node:timers/promises';
import { TASK_ENDED } from '../../convergence/waiting-tasks.ts';
import { WANTED } from '../../convergence/wants.ts';
import type { ChangeFeed } from '../../db/changes.ts';
import type { Database } from '../../db/database.ts';
import { TooManyRequestsError } from '../../lib/errors.ts';
import type { Principal } from '../../requests/principal.ts';
import { type Interest, interestOf } from './filter.ts';
import { type EventList, type EventsFilter, type EventsQuery, presentedEvent, type Told } from './schema.ts';
import { type EventRow, readable, readWanted } from './store.ts';
import { BEAT_MS, createTail } from './tail.ts';

export { typeMatcher, typeProblems } from './filter.ts';
export { createEventReader } from './reader.ts';
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
    const read = await tail.ask(clientId, (sql) =>
      readWanted(sql, interest, { after: position, upTo, limit }),
    );
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

export { presentPosition, startReading } from './reader.ts';
