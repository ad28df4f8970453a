import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { InvalidError } from '../../lib/errors.ts';
import type { LoginLimits } from './limits.ts';
import { isPasswordOf } from './passwords.ts';
import * as store from './store.ts';

/** Anybody may send any text for a name. */
const MOST_OF_AGENT = 500;

/** Where a request comes from. */
export interface Sender {
  address: string;
  userAgent: string | undefined;
}

export function senderOf({
  ip,
  headers,
}: {
  ip: string;
  headers: { 'user-agent'?: string | undefined };
}): Sender {
  return { address: ip, userAgent: headers['user-agent'] };
}

/** The one place where a password that somebody typed is compared with the one that is kept. */
export interface PasswordCheck {
  /** Notes the attempt. Undefined when nobody has that name and password. @throws TooManyRequestsError */
  byName(username: string, password: string, from: Sender): Promise<store.UserToLogIn | undefined>;
  /** The user's own password, typed again before something that matters. @throws InvalidError naming `field`, TooManyRequestsError */
  again(
    userId: number,
    password: string,
    field: string,
    from: Sender,
  ): Promise<store.UserToLogIn & { password_hash: string }>;
}

export function createPasswordCheck(deps: {
  database: Database;
  clock: Clock;
  limits: LoginLimits;
}): PasswordCheck {
  const { database, clock, limits } = deps;

  async function compared(
    user: store.UserToLogIn | undefined,
    username: string,
    password: string,
    from: Sender,
  ): Promise<boolean> {
    const giveBack = await limits.take(username, from.address);
    const successful = await isPasswordOf(user?.password_hash, password);
    if (successful) await giveBack();
    const attempt = {
      user_id: user?.id ?? null,
      username,
      address: from.address,
      user_agent: from.userAgent?.slice(0, MOST_OF_AGENT) ?? null,
      successful,
      created_at: clock.now(),
    };
    // A note of a failure must outlive the refusal, so it is no part of the request's transaction.
    await database.transaction((tx) => store.insertAttempt(tx.sql, attempt));
    return successful;
  }

  return {
    async byName(username, password, from) {
      const user = await store.findUserByEmail(database.sql, username);
      return (await compared(user, username, password, from)) ? user : undefined;
    },

    async again(userId, password, field, from) {
      const user = await store.findUserById(database.sql, userId);
      const right = user !== undefined && (await compared(user, user.email, password, from));
      if (right && user.password_hash !== null) return { ...user, password_hash: user.password_hash };
      throw new InvalidError({ [field]: ['Wrong password.'] });
    },
  };
}
