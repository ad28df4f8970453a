import { UnavailableError } from './errors.ts';

/** Those who want a place of one kind; undefined for the server itself. */
type Account = number | undefined;

/**
 * Places that accounts share: each has at most half of them, or as few as `most` says, and their turns go round. With
 * `restAfterMs`, a place that was in use for so long rests as long as it was, if others of its account wait for it, and
 * `longestRestMs` at most: what costs much then has about half of the time, and who does one thing at a time waits for nothing.
 * With `restAlways` it rests even if nobody waits yet, for those who come back at once, as many as there are places.
 * The places of an account that `isAlone` never rest, since no other account needs them. A wait ends after `patienceMs` with
 * an error.
 */
export interface Turns {
  /**
   * Resolves with a function that gives the place back, once it is the account's turn. It is told for how long it was in use.
   * @throws UnavailableError if that takes longer than the patience of the line
   */
  take(account: Account): Promise<(usedMs?: number) => void>;
  /** Does `work` in a place. @throws UnavailableError like `take` */
  run<T>(account: Account, work: () => Promise<T>): Promise<T>;
  /**
   * Whether one more of the account may wait: `each` of them, and less if so many accounts have anybody who waits that
   * they have to share room for `all`. However many of others wait, the first of an account may.
   */
  hasRoom(account: Account, most: { each: number; all: number }): boolean;
  /** Whether no other account had a turn in the last ten seconds. */
  isAlone(account: Account): boolean;
}

interface Line {
  /** Places that are in use or rest. */
  taken: number;
  waiting: Set<() => void>;
}

/** An account that had its last turn so long ago isn't about any more. */
const GONE_MS = 10_000;

interface Turn {
  account: Account;
  at: number;
}

export function createTurns(
  places: number,
  {
    most = Math.max(1, Math.floor(places / 2)),
    restAfterMs = Number.POSITIVE_INFINITY,
    restTimes = 1,
    longestRestMs = 1_000,
    restAlways = false,
    isAlone = () => false,
    patienceMs,
  }: {
    most?: number;
    restAfterMs?: number;
    restTimes?: number;
    longestRestMs?: number;
    restAlways?: boolean;
    isAlone?: (account: Account) => boolean;
    patienceMs?: number;
  } = {},
): Turns {
  // Whoever had a turn last comes last.
  const lines = new Map<Account, Line>();
  let free = places;
  let latest: Turn | undefined;
  /** The latest turn of another account than that of `latest`. */
  let latestOther: Turn | undefined;

  function lineOf(account: Account): Line {
    const known = lines.get(account);
    if (known) return known;
    const line = { taken: 0, waiting: new Set<() => void>() };
    lines.set(account, line);
    return line;
  }

  function forgetIdle(account: Account, line: Line): void {
    if (line.taken === 0 && line.waiting.size === 0) lines.delete(account);
  }

  function occupy(account: Account, line: Line): void {
    free--;
    line.taken++;
    lines.delete(account);
    lines.set(account, line);
    if (account === undefined) return;
    if (latest?.account !== account) latestOther = latest;
    latest = { account, at: performance.now() };
  }

  function callNext(): void {
    for (const [account, line] of lines) {
      if (free === 0) return;
      const [next] = line.waiting;
      if (!next || line.taken >= most) continue;
      line.waiting.delete(next);
      occupy(account, line);
      next();
    }
  }

  function leave(account: Account, line: Line, usedMs: number): void {
    // Other accounts may have it at once.
    free++;
    const end = () => {
      line.taken--;
      forgetIdle(account, line);
      callNext();
    };
    const isLong = account !== undefined && usedMs >= restAfterMs;
    if (isLong && (restAlways || line.waiting.size > 0) && !isAlone(account)) {
      setTimeout(end, Math.min(restTimes * usedMs, longestRestMs));
      callNext();
    } else end();
  }

  function wait(account: Account, line: Line): Promise<void> {
    return new Promise((resolve, reject) => {
      const called = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer =
        patienceMs &&
        setTimeout(() => {
          line.waiting.delete(called);
          forgetIdle(account, line);
          reject(new UnavailableError('Too many requests wait for the database; try again in a second'));
        }, patienceMs);
      line.waiting.add(called);
    });
  }

  async function take(account: Account): Promise<(usedMs?: number) => void> {
    const line = lineOf(account);
    if (free > 0 && line.taken < most) occupy(account, line);
    else await wait(account, line);
    return (usedMs = 0) => leave(account, line, usedMs);
  }

  return {
    take,
    async run(account, work) {
      const end = await take(account);
      const since = performance.now();
      try {
        return await work();
      } finally {
        end(performance.now() - since);
      }
    },
    hasRoom(account, { each, all }) {
      let accounts = 1;
      for (const [other, { waiting }] of lines) if (other !== account && waiting.size > 0) accounts++;
      return (lines.get(account)?.waiting.size ?? 0) < Math.min(each, all / accounts);
    },
    isAlone(account) {
      const other = latest?.account === account ? latestOther : latest;
      return other === undefined || performance.now() - other.at >= GONE_MS;
    },
  };
}
