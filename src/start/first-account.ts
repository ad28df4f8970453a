import type { Database, Transaction } from '../db/database.ts';
import { insertReseller } from '../iam/accounts/service.ts';
import { platformAdministrator } from '../iam/accounts/users/in-transaction.ts';
import { tokenText } from '../iam/identity/schema.ts';
import { type Account, insertAccount } from '../iam/new-accounts/in-transaction.ts';
import { makeToken, setBootstrapToken } from '../iam/tokens/service.ts';
import type { Clock } from '../lib/time.ts';
import { ROLES } from '../requests/principal.ts';

/**
 * Makes sure that an account exists. An empty database gets a reseller, a client, its administrator (who is
 * also the platform's) and a default project. Later, only the bootstrap token is updated from the setting.
 * Several processes may do this at once.
 */
export async function ensureFirstAccount(deps: {
  database: Database;
  clock: Clock;
  bootstrapToken: { id: number; secret: string } | undefined;
}): Promise<void> {
  await deps.database.transaction(async (tx) => {
    await lockFirstAccount(tx);
    const now = deps.clock.now();
    const account = (await platformAdministrator(tx.sql)) ?? (await makeFirstAccount(tx, now));
    if (deps.bootstrapToken) await setBootstrapToken(tx, deps.bootstrapToken, tokenOf(account, now));
  });
}

/**
 * Makes the first token if there never was one, and returns its text. Call it only if the token can be shown
 * or `keep` can store it. If `keep` fails, no token is made: a token that nobody saw would lock everybody out
 * of the account.
 */
export async function makeTokenOnce(deps: {
  database: Database;
  clock: Clock;
  keep?: (token: string) => void;
}): Promise<string | undefined> {
  return deps.database.transaction(async (tx) => {
    await lockFirstAccount(tx);
    const any = await tx.sql.selectFrom('api_tokens').select('id').limit(1).executeTakeFirst();
    const account = any ? undefined : await platformAdministrator(tx.sql);
    const token = account && (await makeFirstToken(tx, account, deps.clock.now()));
    if (token !== undefined) deps.keep?.(token);
    return token;
  });
}

async function lockFirstAccount(tx: Transaction): Promise<void> {
  await tx.client.query(`select pg_advisory_xact_lock(hashtextextended('tradewind first account', 0))`);
}

async function makeFirstAccount(tx: Transaction, now: Date): Promise<Account> {
  const resellerId = await insertReseller(tx.sql, { name: 'Tradewind', created_at: now });
  return insertAccount(tx.sql, {
    company: 'Tradewind',
    resellerId,
    administrator: { email: 'admin@localhost', reseller_id: resellerId, platform_administrator: true },
    now,
  });
}

async function makeFirstToken(tx: Transaction, account: Account, now: Date): Promise<string> {
  const { id, secret } = await makeToken(tx, { ...tokenOf(account, now), name: 'First token' });
  return tokenText(2, id, secret);
}

function tokenOf(account: Account, now: Date) {
  return {
    client_id: account.clientId,
    user_id: account.userId,
    role_id: ROLES.administrators.id,
    description: '',
    expires_at: null,
    created_at: now,
  };
}
