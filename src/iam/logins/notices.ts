import { type Insertable, sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { senderNetwork } from '../../lib/ip-addresses.ts';
import { forPeople } from '../../lib/time.ts';
import type { NewMail } from '../../mail/mailer.ts';
import { subscribersOf } from '../../mail/receivers.ts';
import type { UserToLogIn } from './store.ts';

const KNOWN_MS = 90 * 24 * 3_600_000;
/** More addresses than that are not compared: nobody with so many would miss the mail. */
const MOST_ADDRESSES = 1_000;

type Attempt = Insertable<Tables['login_attempts']>;

/**
 * Returns the mails about an attempt to log in: to the user, if the password is used from a new address, or to their
 * resellers who want to know of failures. Call it before the attempt is recorded.
 */
export async function loginMails(tx: Transaction, user: UserToLogIn, attempt: Attempt): Promise<NewMail[]> {
  return attempt.successful ? ofNewAddress(tx, user, attempt) : ofFailure(tx, user, attempt);
}

/** The first login has nothing to be compared with. */
async function ofNewAddress(tx: Transaction, user: UserToLogIn, attempt: Attempt): Promise<NewMail[]> {
  const since = new Date(attempt.created_at.getTime() - KNOWN_MS);
  const { rows } = await sql<{ address: string; known: boolean }>`
    select distinct address, address = ${attempt.address} as known from login_attempts
    where user_id = ${user.id} and successful and created_at > ${since}
    order by known desc limit ${MOST_ADDRESSES}`.execute(tx.sql);
  const network = senderNetwork(attempt.address);
  if (rows.length === 0 || rows.some(({ address }) => senderNetwork(address) === network)) return [];
  const { address, user_agent, created_at } = attempt;
  const data = { address, program: user_agent ?? 'unknown', time: forPeople(created_at) };
  return [{ kind: 'new_login', to: user.email, clientId: user.client_id, data }];
}

/** Once an hour for each user, however many passwords somebody tries. */
async function ofFailure(tx: Transaction, user: UserToLogIn, attempt: Attempt): Promise<NewMail[]> {
  const places = tx.sql.selectFrom('client_users').select('client_id').where('user_id', '=', user.id);
  const clientIds = (await places.execute()).map(({ client_id }) => client_id);
  if (clientIds.length === 0) return [];
  const { address, created_at } = attempt;
  const time = forPeople(created_at);
  const hour = created_at.toISOString().slice(0, 13);
  return (await subscribersOf(tx, clientIds, 'failed_login')).map(({ email, id, client_id: clientId }) => ({
    kind: 'failed_login',
    to: email,
    clientId,
    data: { user: user.email, address, time, setting: String(id) },
    once: `${user.id} ${hour}`,
  }));
}
