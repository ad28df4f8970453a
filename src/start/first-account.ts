import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../config.ts';
import type { Database, Transaction } from '../db/database.ts';
import { insertReseller } from '../iam/accounts/service.ts';
import { platformAdministrator } from '../iam/accounts/users/in-transaction.ts';
import { type Account, insertAccount } from '../iam/new-accounts/in-transaction.ts';
import { makeToken, setBootstrapToken } from '../iam/tokens/service.ts';
import type { Clock } from '../lib/time.ts';
import { ROLES, tokenText } from '../requests/principal.ts';

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
 * Makes the first token if there never was one, and returns its text. Call it only if the token can be shown or `keep`
 * can store it. If `keep` fails, no token is made: a token that nobody saw would lock everybody out of the account.
 */
export async function makeTokenOnce(deps: { database: Database; clock: Clock; keep?: (token: string) => void }) {
  return deps.database.transaction(async (tx) => {
    await lockFirstAccount(tx);
    const any = await tx.sql.selectFrom('api_tokens').select('id').limit(1).executeTakeFirst();
    const account = any ? undefined : await platformAdministrator(tx.sql);
    const token = account && (await insertFirstToken(tx, account, deps.clock.now()));
    if (token !== undefined) deps.keep?.(token);
    return token;
  });
}

async function lockFirstAccount(tx: Transaction): Promise<void> {
  await tx.client.query(`select pg_advisory_xact_lock(hashtextextended('tradewind first account', 0))`);
}

async function makeFirstAccount(tx: Transaction, now: Date): Promise<Account> {
  // The tables may be a copy that is older.
  await tx.client.query('update removal_time set until = now()');
  const resellerId = await insertReseller(tx.sql, { name: 'Tradewind', created_at: now });
  return insertAccount(tx.sql, {
    company: 'Tradewind',
    resellerId,
    administrator: { email: 'admin@localhost', reseller_id: resellerId, platform_administrator: true },
    now,
  });
}

async function insertFirstToken(tx: Transaction, account: Account, now: Date): Promise<string> {
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

/** The first token: shown, stored in a file, or not made because neither was possible. */
export type FirstToken = { text: string } | { file: string } | { problem: string };

/**
 * Returns the file for the token if there is no terminal to show it on: logs keep whatever is printed
 * elsewhere. Each database has its own file, as it has its own token.
 */
export function firstTokenFile({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): string {
  if (databaseUrl === undefined) return path.join(dataDir, 'first-token');
  const { host, pathname } = new URL(databaseUrl);
  return path.join(dataDir, `first-token-${host}${pathname}`.replaceAll(/[^\w.-]/g, '-').slice(0, 200));
}

/** Makes the first token of an account that has none, for the person at the terminal or else for the folder's owner. */
export async function makeFirstToken(deps: {
  database: Database;
  clock: Clock;
  /** See `firstTokenFile`. */
  file: string;
  terminal: boolean;
}): Promise<FirstToken | undefined> {
  const { database, clock, file, terminal } = deps;
  if (terminal) {
    const text = await makeTokenOnce({ database, clock });
    return text === undefined ? undefined : { text };
  }
  let written = false;
  const keep = (token: string) => {
    try {
      writePrivately(file, `${token}\n`);
    } catch (error) {
      throw new NotKeptError(`${file} can't be written (${(error as NodeJS.ErrnoException).code})`);
    }
    written = true;
  };
  try {
    return (await makeTokenOnce({ database, clock, keep })) === undefined ? undefined : { file };
  } catch (error) {
    if (error instanceof NotKeptError) return { problem: error.message };
    // The token in the file was never committed.
    if (written) fs.rmSync(file, { force: true });
    throw error;
  }
}

class NotKeptError extends Error {}

/** Writes a new file that only this user can ever read, whatever was there before. */
function writePrivately(file: string, text: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  fs.rmSync(file, { force: true });
  fs.writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
}
