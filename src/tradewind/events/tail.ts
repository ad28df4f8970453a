import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Sql } from '../../db/database.ts';
import { haveEndedBefore, takeNumber } from '../../db/finality.ts';
import { UnavailableError } from '../../lib/errors.ts';
import { onOwnBehalf } from '../../lib/request-context.ts';
import { createTurns } from '../../lib/turns.ts';
import { type EventRow, newest, readBetween } from './store.ts';

/** New events are looked for this often; what this process commits and what workers announce, at once. */
const LOOK_MS = 250;
/** While a transaction may still write a smaller position, and at least between two looks. */
const PAUSE_MS = 10;
const FAILED_MS = 1_000;
const PATIENCE_MS = 5_000;
export const BEAT_MS = 15_000;
const BATCH = 1_000;
const longer = (pause: number) => Math.min(2 * pause, LOOK_MS);
const BUSY = 'A transaction in the database takes long, so events cannot be told yet; try again';
/** Kept in memory for those who follow closely; whoever is further behind reads the database. */
const MOST_KEPT = 2_000;
/** Listeners that ask the database at the same time, each of another account. */
const MOST_ASKING = 2;
/** What they ask rests in between if it takes longer: it looks through thousands of events. */
const LONG_MS = 1;

/**
 * Reads every event once for all listeners of a process, in the order of positions and without gaps, over one connection
 * of the database at a time. Listeners that are behind share two more.
 *
 * A position is taken before its transaction commits, so a smaller one may appear after a larger one. The tail passes a
 * gap only when it is certain that nobody can fill it any more: it takes a transaction number after it has seen the
 * gap, and waits until no transaction of the database with a smaller one is under way.
 */
export interface Tail {
  /** Keeps the tail running until the returned function is called. */
  enter(): () => void;
  /**
   * Resolves with the position up to which every event is final, once that includes all that can be seen now. Something
   * that takes long to commit isn't waited for. Rejects if the database can't be asked. @throws UnavailableError if
   * nothing is final yet, since a transaction takes long that began before the tail
   */
  ready(): Promise<number>;
  settled(): number;
  /** Returns the events kept in memory; undefined if some after `position` are not there any more. */
  after(position: number): readonly EventRow[] | undefined;
  /** Resolves at the next event of anybody, at the next heartbeat, or when the tail stops. */
  news(): Promise<void>;
  /**
   * Runs a query for a listener of that account. All listeners share a few connections, of which the tail has its own;
   * an account has one at a time, and their turns go round.
   */
  ask<T>(clientId: number, query: (sql: Sql) => Promise<T>): Promise<T>;
  /** Looks for new events at once. */
  wake(): void;
  stop(): void;
  stopped(): boolean;
  /** For how many seconds there have been events that can't be told yet. */
  heldUpSeconds(): number;
}

/** Who asked for a position. */
interface Waiting {
  resolve: (position: number) => void;
  reject: (error: unknown) => void;
  since: number;
  /** What could be seen then. */
  upTo?: number;
}

export function createTail(database: Pick<Database, 'sql'>): Tail {
  const turns = createTurns(MOST_ASKING, { restAfterMs: LONG_MS });
  const ask = <T>(query: (sql: Sql) => Promise<T>): Promise<T> => query(database.sql);
  const haveEnded = (number: bigint) => ask((db) => haveEndedBefore(db, number));
  let listeners = 0;
  let stopped = false;
  let isRunning = false;
  /** Every event up to here is final. */
  let settled: number | undefined;
  /** Nobody can write an event up to here any more. */
  let sure = 0;
  /** Once no transaction up to `number` is under way, nobody can write an event up to `position`. */
  let bound: { position: number; number: bigint; pause: number } | undefined;
  /** All events after `keptAfter`. */
  let kept: EventRow[] = [];
  let keptAfter = 0;
  /** The largest position that was seen. */
  let seen = 0;
  let waiting: Waiting[] = [];
  let heldUpSince: number | undefined;

  let tell = () => {};
  let news = pulse();
  let interrupt = () => {};
  let woken = false;

  function pulse(): Promise<void> {
    return new Promise((resolve) => {
      tell = resolve;
    });
  }
  function announce(): void {
    const told = tell;
    news = pulse();
    told();
  }
  function wake(): void {
    woken = true;
    interrupt();
  }

  async function begin(): Promise<void> {
    const last = await ask(newest);
    if (settled !== undefined && last - settled < BATCH) return;
    const number = await ask(takeNumber);
    for (let pause = PAUSE_MS; !(await haveEnded(number)); pause = longer(pause)) {
      if (stopped) return;
      answerImpatient();
      await sleep(pause);
    }
    settled = last;
    sure = last;
    bound = undefined;
    heldUpSince = undefined;
    kept = [];
    keptAfter = last;
  }

  /** Returns how long to wait until the next look. */
  async function look(from: number): Promise<number> {
    // Asked first, since only what is read after it has all that these transactions have written.
    if (bound && (await haveEnded(bound.number))) {
      sure = Math.max(sure, bound.position);
      bound = undefined;
    }
    const rows = await ask((db) => readBetween(db, { after: from, upTo: Number.MAX_SAFE_INTEGER, limit: BATCH }));
    const count = finalAmong(rows, from);
    const last = rows[count - 1]?.position ?? from;
    const isWhole = rows.length < BATCH;
    settled = last;
    seen = rows.at(-1)?.position ?? last;
    keep(rows.slice(0, count));
    if (count > 0) announce();
    heldUpSince = count === rows.length ? undefined : (heldUpSince ?? performance.now());
    const next = rows.at(-1);
    if (count === rows.length || !next) return isWhole ? LOOK_MS : 0;
    return pauseBefore(next.position);
  }

  /** Returns how many of the next events nothing can come between any more. */
  function finalAmong(rows: readonly EventRow[], from: number): number {
    let last = from;
    let count = 0;
    for (const { position } of rows) {
      if (position > sure && position !== Math.max(last, sure) + 1) break;
      last = position;
      count++;
    }
    return count;
  }

  /** Finds out when all transactions that can fill a gap before the position have ended. */
  async function pauseBefore(position: number): Promise<number> {
    // All of it is read again: less and less often, if it takes long.
    if (bound) bound.pause = longer(bound.pause);
    else bound = { position, number: await ask(takeNumber), pause: PAUSE_MS };
    return bound.pause;
  }

  function keep(rows: EventRow[]): void {
    kept.push(...rows);
    const surplus = kept.length - MOST_KEPT;
    if (surplus <= 0) return;
    keptAfter = kept[surplus - 1]?.position ?? keptAfter;
    kept = kept.slice(surplus);
  }

  function isServed(one: Waiting): boolean {
    one.upTo ??= seen;
    const isDone = Math.max(settled ?? 0, sure) >= one.upTo || isImpatient(one);
    if (isDone) answer(one);
    return isDone;
  }

  function answer({ resolve, reject }: Waiting): void {
    if (settled === undefined) reject(new UnavailableError(BUSY));
    else resolve(settled);
  }

  const isImpatient = ({ since }: Waiting) => performance.now() - since > PATIENCE_MS;

  function answerImpatient(): void {
    waiting.filter(isImpatient).forEach(answer);
    waiting = waiting.filter((one) => !isImpatient(one));
  }

  async function run(): Promise<void> {
    const beating = setInterval(announce, BEAT_MS);
    let hasBegun = false;
    while (listeners > 0 && !stopped) {
      woken = false;
      try {
        if (!hasBegun) await begin();
        hasBegun = true;
        await rest(stopped ? 0 : await turn());
      } catch (error) {
        for (const { reject } of waiting) reject(error);
        waiting = [];
        await rest(FAILED_MS);
      }
    }
    clearInterval(beating);
    if (stopped) waiting.forEach(answer);
  }

  /** Looks, answers who waited for that, and returns how long to wait until the next turn. */
  async function turn(): Promise<number> {
    const served = new Set(waiting);
    const pause = await look(settled ?? 0);
    // A look that doesn't come up to the present is followed by another.
    if (pause > 0) waiting = waiting.filter((one) => !served.has(one) || !isServed(one));
    return pause;
  }

  /** Waits for that time or until it is woken, but for a short time in any case: one look finds what many commit. */
  async function rest(ms: number): Promise<void> {
    if (ms > 0) await sleep(PAUSE_MS);
    if (ms <= PAUSE_MS || stopped) return;
    // News can't be told before the gap is closed.
    if (woken && !bound) return;
    const timer = new AbortController();
    if (!bound) interrupt = () => timer.abort();
    await sleep(ms - PAUSE_MS, undefined, { signal: timer.signal }).catch(() => {});
    interrupt = () => {};
  }

  async function start(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (listeners > 0 && !stopped) await run();
    isRunning = false;
  }

  return {
    enter() {
      listeners++;
      // It works for all that come later, too.
      void onOwnBehalf(start);
      let isIn = true;
      return () => {
        if (isIn) listeners--;
        isIn = false;
      };
    },
    ready: () =>
      new Promise((resolve, reject) => {
        const one = { resolve, reject, since: performance.now() };
        if (stopped) answer(one);
        else waiting.push(one);
        wake();
      }),
    settled: () => settled ?? 0,
    after(position) {
      if (settled === undefined || position < keptAfter) return undefined;
      return kept.slice(firstAfter(kept, position));
    },
    news: () => news,
    // It has its turn here, and needs no other one for the connection.
    ask: (clientId, query) => onOwnBehalf(() => turns.run(clientId, () => ask(query))),
    wake,
    stop() {
      stopped = true;
      waiting.forEach(answer);
      waiting = [];
      wake();
      announce();
    },
    stopped: () => stopped,
    heldUpSeconds: () => (heldUpSince === undefined || listeners === 0 ? 0 : (performance.now() - heldUpSince) / 1_000),
  };
}

/** Returns the index of the first event after that position. */
function firstAfter(rows: readonly EventRow[], position: number): number {
  let [from, to] = [0, rows.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((rows[middle]?.position ?? 0) <= position) from = middle + 1;
    else to = middle;
  }
  return from;
}
