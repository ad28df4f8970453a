import { createHash } from 'node:crypto';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database } from '../../../db/database.ts';
import { TooManyRequestsError } from '../../../lib/errors.ts';
import { senderNetwork } from '../../../lib/ip-addresses.ts';
import { AddressTakenError } from '../../accounts/users/in-transaction.ts';

/**
 * Failures allowed in a window: for one name from one address, for all names from one address, and for one
 * name from anywhere.
 */
const MOST_FROM_ONE_ADDRESS = 5;
export const MOST_OF_ONE_ADDRESS = 100;
const MOST_FROM_ANYWHERE = 25;
/** How many taken addresses a user may discover by trying to give them to users. */
const MOST_ADDRESSES = 20;
const WINDOW_SECONDS = 900;
/** For so long after a successful login from an address, only the user's own failures from there count. */
const KNOWN_DAYS = 90;

/** Limits how often passwords may be guessed. Counted in the database, for all processes together. */
export interface Guesses {
  /**
   * Takes one guess before the password, or the second factor, is checked. If it was right, call the returned function, so
   * that the guess doesn't count. `half` says that a second factor is still to be checked: who knows only the password must
   * not get new guesses with it.
   * @throws TooManyRequestsError
   */
  take(username: string, address: string): Promise<(half?: 'half') => Promise<void>>;
  /**
   * Does work that reveals whether an address is taken; only addresses that are taken count.
   * @throws TooManyRequestsError
   */
  withAddress<T>(userId: number, work: () => Promise<T>): Promise<T>;
  /** Deletes expired counts. */
  clean(now: Date): Promise<void>;
}

export function createGuesses(database: Pick<Database, 'pool'>): Guesses {
  const limiter = (keyPrefix: string, points: number) =>
    new RateLimiterPostgres({
      storeClient: database.pool,
      storeType: 'pool',
      tableName: 'login_limits',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix,
      points,
      duration: WINDOW_SECONDS,
    });
  // Created at the first login, so that the API can be described without a database.
  let made: Record<'fromAddress' | 'ofAddress' | 'fromAnywhere' | 'addresses', RateLimiterPostgres> | undefined;
  const limiters = () => {
    made ??= {
      fromAddress: limiter('address', MOST_FROM_ONE_ADDRESS),
      ofAddress: limiter('sender', MOST_OF_ONE_ADDRESS),
      fromAnywhere: limiter('user', MOST_FROM_ANYWHERE),
      addresses: limiter('change', MOST_ADDRESSES),
    };
    return made;
  };

  async function isKnown(pair: string): Promise<boolean> {
    const { rowCount } = await database.pool.query('select from known_logins where key = $1 and until > now()', [pair]);
    return rowCount === 1;
  }

  async function remember(pair: string): Promise<void> {
    await database.pool.query(
      `insert into known_logins (key, until) values ($1, now() + make_interval(days => $2))
       on conflict (key) do update set until = excluded.until`,
      [pair, KNOWN_DAYS],
    );
  }

  return {
    async take(username, address) {
      const { fromAddress, ofAddress, fromAnywhere } = limiters();
      const ofUser = 'The password of this user was wrong too often';
      const [pair, sender, user] = [keyOf(username, address), keyOf('', address), keyOf(username)];
      // Guesses that this address may no longer make cost the user nothing elsewhere.
      await guess(ofUser, () => fromAddress.consume(pair));
      const known = await isKnown(pair);
      if (!known) {
        await guess('Too many wrong passwords came from this address', () => ofAddress.consume(sender));
        await guess(ofUser, () => fromAnywhere.consume(user));
      }
      return async (half) => {
        await (half ? fromAddress.reward(pair) : fromAddress.delete(pair));
        // Gives back only what was taken: repeated logins must not earn guesses.
        if (!known) await Promise.all([ofAddress.reward(sender), fromAnywhere.reward(user)]);
        if (!half) await remember(pair);
      };
    },
    async withAddress(userId, work) {
      const { addresses } = limiters();
      const key = String(userId);
      const state = await addresses.get(key);
      if (state && state.consumedPoints >= MOST_ADDRESSES)
        throw tooMany('Too many of the requested addresses belong to other users', state);
      try {
        return await work();
      } catch (error) {
        if (error instanceof AddressTakenError) await addresses.penalty(key);
        throw error;
      }
    },
    async clean(now) {
      await database.pool.query('delete from login_limits where expire < $1', [now.getTime()]);
      await database.pool.query('delete from known_logins where until < $1', [now]);
    },
  };
}

/** @throws TooManyRequestsError */
async function guess(refusal: string, consume: () => Promise<unknown>): Promise<void> {
  try {
    await consume();
  } catch (error) {
    throw error instanceof RateLimiterRes ? tooMany(refusal, error) : error;
  }
}

function tooMany(refusal: string, { msBeforeNext }: RateLimiterRes): TooManyRequestsError {
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new TooManyRequestsError(`${refusal}; try again in ${seconds} s`, seconds);
}

/** Hashes names of any length and form to one short key, which reveals nothing. */
function keyOf(username: string, address?: string): string {
  const from = address === undefined ? '' : senderNetwork(address);
  return createHash('sha256').update(`${from}\n${username.toLowerCase()}`).digest('base64url');
}
