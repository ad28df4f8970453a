import type { Database, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { ROLES } from '../../requests/principal.ts';
import { announceTokens, endLogins, platformAdministrator } from '../identity/in-transaction.ts';
import { tokenText } from '../identity/schema.ts';
import { secretHash } from '../identity/service.ts';
import { makeToken } from '../tokens/in-transaction.ts';
import { type Account, insertAccount } from './in-transaction.ts';

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
    if (deps.bootstrapToken) await setBootstrapToken(tx, account, deps.bootstrapToken, now);
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
  const { id: resellerId } = await tx.sql
    .insertInto('resellers')
    .values({ name: 'Tradewind', created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow();
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

/** The setting decides: a bootstrap token with an earlier value stops working. */
async function setBootstrapToken(
  tx: Transaction,
  account: Account,
  token: { id: number; secret: string },
  now: Date,
): Promise<void> {
  await removeOtherBootstrapTokens(tx, token);
  const row = {
    ...tokenOf(account, now),
    id: token.id,
    name: 'Bootstrap token',
    secret_hash: secretHash(token.secret),
    bootstrap: true,
  };
  const { numInsertedOrUpdatedRows } = await tx.sql
    .insertInto('api_tokens')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ secret_hash: row.secret_hash, deleted_at: null })
        .where('api_tokens.bootstrap', '=', true),
    )
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) {
    throw new BootstrapTokenTakenError(
      `TRADEWIND_BOOTSTRAP_TOKEN is not usable: another API token has the id ${token.id}; choose an id below 1000`,
    );
  }
  await announceTokens(tx, [token.id]);
}

/** Removes bootstrap tokens with another id; one whose secret changes loses the logins that it made. */
async function removeOtherBootstrapTokens(
  tx: Transaction,
  token: { id: number; secret: string },
): Promise<void> {
  const others = await tx.sql
    .selectFrom('api_tokens')
    .select('id')
    .where('bootstrap', '=', true)
    .where((row) => row.or([row('id', '!=', token.id), row('secret_hash', '!=', secretHash(token.secret))]))
    .execute();
  const ids = others.map(({ id }) => id);
  for (const tokenId of ids) await endLogins(tx, { tokenId });
  const gone = ids.filter((id) => id !== token.id);
  if (gone.length > 0) await tx.sql.deleteFrom('api_tokens').where('id', 'in', gone).execute();
  await announceTokens(tx, gone);
}

/** The bootstrap token's id belongs to a token that was made through the API. */
export class BootstrapTokenTakenError extends OperatorError {}

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
