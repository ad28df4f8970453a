import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Logger } from 'pino';
import { announce, type ChangeFeed } from '../db/changes.ts';
import type { Database } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { loop } from '../lib/loop.ts';
import { BEAT_MS, beat, declareDead, forgetOldWorkers, livingWorkers, WORKER_IS_DEAD } from './heartbeat.ts';

/** How long a lost announcement may delay work. Work is normally announced, so that nothing waits for this. */
const LOOK_MS = 500;
const SWEEP_MS = 2_000;
/** After so long without an answer, each queue looks for itself: it may be that only the table of another is locked. */
const LATE_MS = 1_000;
/** Between two looks of a queue that nobody asks for. */
const SELDOM_MS = 60_000;

interface Foundation {
  /** A database opened for writes that may be repeated. */
  database: Database;
  changes: ChangeFeed;
  log: Logger;
  /** While false, it takes no work, gives back what it has, and isn't heard of: others go on with it. */
  mayWork?: (() => boolean) | undefined;
}

export interface Worker {
  id: string;
  /** Records what its engines for AI tasks can do. */
  can(capabilities: object): Promise<void>;
  /** Makes the worker take work from this queue too. */
  serve(queue: Queue): void;
  /** Lets running work finish within `graceMs` and releases the rest, so that another process can claim it at once. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts a worker and its heartbeat.
 * @param options.takeOverAllAtStart no other worker can be alive (embedded database), so that all of their
 * claims are taken over at once
 * @param options.regions the regions that it is bound to, which the list of workers shows
 */
export async function startWorker(
  options: Foundation & { takeOverAllAtStart?: boolean | undefined; regions?: readonly number[] | undefined },
): Promise<Worker> {
  const { log, regions, mayWork = () => true } = options;
  const db = options.database.sql;
  const id = randomUUID();
  const served: Serving[] = [];
  let capabilities: object | null = null;
  await beat(db, id, { capabilities, regions });
  await forgetOldWorkers(db);
  if (options.takeOverAllAtStart) {
    const others = [...(await livingWorkers(db))].filter((other) => other !== id);
    await declareDead(db, others);
  }
  const beating = loop('heartbeat', BEAT_MS, log, async () => {
    if (mayWork()) await beat(db, id, { capabilities, regions });
  });
  // Each asks for all queues at once: a process without work has next to nothing to do.
  const looking = loop('looking for work', LOOK_MS, log, async () => {
    if (mayWork())
      return ask(
        (queue) => [queue.isDue()],
        ([due], one) => due && one.look(),
      );
    for (const one of served) one.look();
  });
  const comparing = loop('comparing claims', SWEEP_MS, log, async () => {
    const claims = ({ table }: Queue, by: RawBuilder<boolean>) =>
      sql<boolean>`exists (select from ${sql.table(table)} where worker_id is not null and ${by})`;
    if (!mayWork()) return;
    await ask(
      (queue) => [claims(queue, WORKER_IS_DEAD), claims(queue, sql`worker_id = ${id}`)],
      ([dead = false, mine = false], one) => one.compare({ dead, mine }),
    );
  });

  /** Tells each queue which of its conditions hold. As long as the database doesn't say, all of them may. */
  async function ask(
    conditionsOf: (queue: Queue) => RawBuilder<boolean>[],
    tell: (hold: boolean[], one: Serving) => unknown,
  ): Promise<void> {
    const asked = served.map((one) => ({ one, conditions: conditionsOf(one.queue) }));
    if (asked.length === 0) return;
    const tellAll = () => {
      for (const { one, conditions } of asked)
        tell(
          conditions.map(() => true),
          one,
        );
    };
    const waiting = setInterval(tellAll, LATE_MS);
    try {
      const answers = asked.map(({ conditions }) => sql`array[${sql.join(conditions)}]`);
      const columns = answers.map((answer, index) => sql`${answer} as ${sql.ref(String(index))}`);
      const { rows } = await sql<Record<number, boolean[]>>`select ${sql.join(columns)}`.execute(db);
      for (const [index, { one }] of asked.entries()) tell(rows[0]?.[index] ?? [], one);
    } catch (error) {
      tellAll();
      throw error;
    } finally {
      clearInterval(waiting);
    }
  }

  return {
    id,
    async can(these) {
      capabilities = these;
      await beat(db, id, { capabilities, regions });
    },
    serve(queue) {
      served.push(serve(queue, options));
      // What dead workers have claimed is taken over at once.
      comparing.now();
    },
    async stop(graceMs) {
      await Promise.all([looking.stop(), comparing.stop(), ...served.map((one) => one.stop(graceMs))]);
      await beating.stop();
      await declareDead(db, [id]).catch((error: unknown) =>
        log.warn({ err: error }, 'this worker could not announce that it is stopping; other workers notice later'),
      );
    },
  };
}

interface Serving extends Pick<Worker, 'stop'> {
  queue: Queue;
  look(): void;
  /** Is told whether claims of dead workers and of this one are in the database. */
  compare(claims: { dead: boolean; mine: boolean }): void;
}

function serve(queue: Queue, { database, changes, log, mayWork = () => true }: Foundation): Serving {
  const inHand = new Map<string, { state: Claim['state']; stop: AbortController; done: Promise<void> }>();
  let stopping = false;
  /** Whether the claims in the database have to be compared with those in memory. */
  let unsure = false;

  const looking = loop(`looking for ${queue.name}`, SELDOM_MS, log, async () => {
    if (!mayWork()) return pause();
    if (unsure) await compare();
    while (!stopping && mayWork() && (await queue.take(inHand, begin)));
  });

  function begin({ key, state, work }: Claim): void {
    // It was released and claimed again between two looks.
    inHand.get(key)?.stop.abort(new Error('It was taken again'));
    const stop = new AbortController();
    const done = work(stop.signal)
      .catch((error: unknown) => {
        if (!stop.signal.aborted)
          log.error({ err: error, key }, `one of the ${queue.name} was lost by its worker and will be picked up again`);
      })
      .finally(() => {
        // It may have been claimed again already.
        if (inHand.get(key)?.stop === stop) inHand.delete(key);
        looking.now();
      });
    inHand.set(key, { state, stop, done });
  }

  async function pause(): Promise<void> {
    for (const { stop } of inHand.values()) stop.abort(new Error('The process pauses'));
    await compare();
  }

  /**
   * Aborts work whose claim is lost or outdated, even if it hangs. Releases claims that this worker doesn't
   * know of, since an answer of the database was lost. Nothing is claimed meanwhile.
   */
  async function compare(): Promise<void> {
    unsure = false;
    const known = new Map(inHand);
    const claimed = await queue.claimed();
    for (const [key, { state, stop }] of known) {
      if (claimed.get(key) !== state) stop.abort(new Error('Others have it, or something else is wanted'));
    }
    const lost = [...claimed.keys()].filter((key) => !known.has(key));
    if (lost.length > 0) await queue.giveBack(lost);
  }

  function compareNow(): void {
    unsure = true;
    looking.now();
  }
  changes.on(queue.topic, (key) => (key === '' ? looking.now() : compareNow()), compareNow);

  let hasDead = false;
  const sweeping = loop(`sweep of ${queue.name}`, SWEEP_MS, log, async () => {
    if (!mayWork()) return;
    if (hasDead) {
      hasDead = false;
      const freed = await queue.takeFromDead();
      if (freed > 0) log.warn({ freed }, `took over ${queue.name} from dead workers`);
      looking.now();
    }
    await queue.sweep?.();
  });

  return {
    queue,
    look: () => looking.now(),
    compare({ dead, mine }) {
      if (mine || inHand.size > 0) compareNow();
      if (!dead) return;
      hasDead = true;
      sweeping.now();
    },
    async stop(graceMs) {
      stopping = true;
      await Promise.all([looking.stop(), sweeping.stop()]);
      for (const { stop } of inHand.values()) stop.abort(new Error('The process stops'));
      const ends = Promise.all([...inHand.values()].map(({ done }) => done));
      await Promise.race([ends, new Promise((resolve) => setTimeout(resolve, graceMs).unref())]);
      try {
        const left = [...(await queue.claimed()).keys()];
        if (left.length > 0) await queue.giveBack(left);
        await database.transaction((tx) => announce(tx.client, queue.topic, ''));
      } catch (error) {
        log.warn({ err: error }, `${queue.name} could not be released; other workers take them over later`);
      }
    },
  };
}

/** A piece of work that a worker has claimed. */
export interface Claim {
  key: string;
  /** The state when it was claimed. If the state or the worker has changed, it must not be worked on. */
  state: string | number;
  /** Works on it until the claim is released; if aborted, the claim is released as well. */
  work(signal: AbortSignal): Promise<void>;
}

/** Work that workers divide among themselves through the database, each piece to one of them. */
export interface Queue {
  name: string;
  /** The topic that tells workers of new work and, with a key, that a claim may no longer be theirs. */
  topic: string;
  /** Has the claims: rows that name their worker in `worker_id`. */
  table: keyof Tables;
  /** Whether there may be something to claim. */
  isDue(): RawBuilder<boolean>;
  /**
   * Claims some of the due work, if there is room beside what is claimed already. Returns false if nothing is
   * left to claim.
   */
  take(inHand: ReadonlyMap<string, unknown>, begin: (claim: Claim) => void): Promise<boolean>;
  /** Returns what the database counts as this worker's: states by key. */
  claimed(): Promise<ReadonlyMap<string, Claim['state']>>;
  giveBack(keys: readonly string[]): Promise<void>;
  /** Releases the claims of dead workers. Returns how many there were. */
  takeFromDead(): Promise<number>;
  /** Does the queue's regular housekeeping. */
  sweep?(): Promise<void>;
}
