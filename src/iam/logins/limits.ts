import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database } from '../../db/database.ts';
import { TooManyRequestsError } from '../../lib/errors.ts';

/** Failures in a window: of one name from one address, of all names from one address, and of one name from anywhere. */
const MOST_FROM_ONE_ADDRESS = 5;
export const MOST_OF_ONE_ADDRESS = 100;
const MOST_FROM_ANYWHERE = 25;
const WINDOW_SECONDS = 900;

/** How often a password may be guessed. Counted in the database, for all processes together. */
export interface LoginLimits {
  /** Takes one guess before the password is looked at. @throws TooManyRequestsError */
  take(username: string, address: string): Promise<void>;
  /** The password was right: the guess didn't count. */
  giveBack(username: string, address: string): Promise<void>;
  /** Forgets what is over. */
  clean(now: Date): Promise<void>;
}

export function createLoginLimits(database: Pick<Database, 'pool'>): LoginLimits {
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
  // Made with the first login, so that the API can be described without a database.
  let made: Record<'fromAddress' | 'ofAddress' | 'fromAnywhere', RateLimiterPostgres> | undefined;
  const limiters = () => {
    made ??= {
      fromAddress: limiter('address', MOST_FROM_ONE_ADDRESS),
      ofAddress: limiter('sender', MOST_OF_ONE_ADDRESS),
      fromAnywhere: limiter('user', MOST_FROM_ANYWHERE),
    };
    return made;
  };

  return {
    async take(username, address) {
      const { fromAddress, ofAddress, fromAnywhere } = limiters();
      const ofUser = 'The password of this user was wrong too often';
      // What one address may not guess any more costs the user nothing elsewhere.
      await guess(ofUser, () => fromAddress.consume(keyOf(username, address)));
      await guess('Too many wrong passwords came from this address', () =>
        ofAddress.consume(keyOf('', address)),
      );
      await guess(ofUser, () => fromAnywhere.consume(keyOf(username)));
    },
    async giveBack(username, address) {
      const { fromAddress, ofAddress, fromAnywhere } = limiters();
      await fromAddress.delete(keyOf(username, address));
      await ofAddress.reward(keyOf('', address));
      await fromAnywhere.reward(keyOf(username));
    },
    async clean(now) {
      await database.pool.query('delete from login_limits where expire < $1', [now.getTime()]);
    },
  };
}

/** @throws TooManyRequestsError */
async function guess(refusal: string, consume: () => Promise<unknown>): Promise<void> {
  try {
    await consume();
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    const seconds = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
    throw new TooManyRequestsError(`${refusal}; try again in ${seconds} s`, seconds);
  }
}

/** Names of any length and form are one short key each, which tells nothing of them. */
function keyOf(username: string, address?: string): string {
  const from = address === undefined ? '' : networkOf(address);
  return createHash('sha256').update(`${from}\n${username.toLowerCase()}`).digest('base64url');
}

/** Whoever has one IPv6 address has the others of its /64 as well. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
