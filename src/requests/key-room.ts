import { type Kysely, sql } from 'kysely';
import type { Tables } from '../db/tables.ts';
import type { Clock } from '../lib/clock.ts';
import { TooManyRequestsError } from '../lib/errors.ts';

/** What an account may have at a time: a valid key protects until it expires, so a new one is refused instead. */
export const MOST_KEYS = 50_000;
export const MOST_KEPT_BYTES = 64 * 1_048_576;
/** Counting takes longer the more there are. Meanwhile a process only knows of what it has added itself. */
const COUNTED_FOR_MS = 2_000;
const MOST_REMEMBERED = 1_000;

interface Held {
  keys: number;
  /** Of the answers. */
  bytes: number;
  /** When the oldest key expires. */
  firstEndsAt: Date | null;
  countedAt: number;
}

/** Knows about how many idempotency keys each account has. */
export interface KeyRoom {
  /** Makes sure that the account may use another key. @throws TooManyRequestsError */
  takeOne(clientId: number): Promise<void>;
  /** An answer of so many bytes is kept. */
  kept(clientId: number, bytes: number): void;
}

export function createKeyRoom(deps: { database: { sql: Kysely<Tables> }; clock: Clock }): KeyRoom {
  const { database, clock } = deps;
  const known = new Map<number, Promise<Held>>();

  async function count(clientId: number): Promise<Held> {
    const countedAt = performance.now();
    const { rows } = await sql<Omit<Held, 'countedAt'>>`
      select count(*)::int as keys, coalesce(sum(octet_length(body)), 0)::float8 as bytes,
        min(expires_at) as "firstEndsAt"
      from idempotency_keys where client_id = ${clientId} and expires_at > ${clock.now()}`.execute(
      database.sql,
    );
    return { keys: 0, bytes: 0, firstEndsAt: null, ...rows[0], countedAt };
  }

  /** Those who ask at once wait for the same count. */
  async function heldBy(clientId: number): Promise<Held> {
    const before = known.get(clientId);
    const held = await before;
    if (held && performance.now() - held.countedAt < COUNTED_FOR_MS) return held;
    // Somebody else may have begun to count meanwhile.
    const begun = known.get(clientId);
    if (begun && begun !== before) return begun;
    if (known.size >= MOST_REMEMBERED) known.clear();
    const counting = count(clientId);
    known.set(clientId, counting);
    counting.catch(() => known.delete(clientId));
    return counting;
  }

  return {
    async takeOne(clientId) {
      const held = await heldBy(clientId);
      if (held.keys < MOST_KEYS && held.bytes < MOST_KEPT_BYTES) {
        held.keys++;
        return;
      }
      const endsAt = held.firstEndsAt ?? clock.now();
      const seconds = Math.max(1, Math.ceil((endsAt.getTime() - clock.now().getTime()) / 1000));
      throw new TooManyRequestsError(
        `The account has as many Idempotency-Keys as it may have at a time (${MOST_KEYS}, or ${MOST_KEPT_BYTES / 1_048_576} MiB of answers). Send the request without one, or again when the oldest has expired, in ${seconds} s`,
        seconds,
      );
    },
    kept(clientId, bytes) {
      void known.get(clientId)?.then(
        (held) => {
          held.bytes += bytes;
        },
        () => {},
      );
    },
  };
}
