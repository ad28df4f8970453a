import { type Database, openDatabase } from '../../src/db/database.ts';
import { insertAccount } from '../../src/iam/new-accounts/in-transaction.ts';
import { createTokenFor } from '../../src/iam/tokens/operator-token.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import type { TestService } from './service.ts';

export interface TestReseller {
  resellerId: number;
  /** The account of the reseller's own token. */
  clientId: number;
  /** Uses the reseller's token, which is not the platform administrator's. */
  http: HttpClient;
}

/** Opens the service's database, for what only an operator can do. */
async function withDatabase<T>(service: TestService, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 2);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Returns a client with the rights of the account's reseller, but not the platform's. */
export async function asResellerOf(service: TestService, clientId: number): Promise<HttpClient> {
  const { token } = await withDatabase(service, (database) =>
    createTokenFor(
      { database, clock: systemClock },
      { clientId, resellerAccess: true, role: 'Administrators', name: 'Reseller', expires: null },
    ),
  );
  return createHttpClient(service.url, token);
}

/** Adds a reseller with an account. No API operation can, so it is done as an operator. */
export async function addReseller(service: TestService, name: string): Promise<TestReseller> {
  const { resellerId, clientId } = await withDatabase(service, ({ sql }) => insertReseller(sql, name));
  return { resellerId, clientId, http: await asResellerOf(service, clientId) };
}

async function insertReseller(sql: Database['sql'], name: string) {
  const now = systemClock.now();
  const { id: resellerId } = await sql
    .insertInto('resellers')
    .values({ name, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow();
  const email = `admin@${name.toLowerCase()}.invalid`;
  const administrator = { email, platform_administrator: false };
  const { clientId } = await insertAccount(sql, { company: name, resellerId, administrator, now });
  return { resellerId, clientId };
}
