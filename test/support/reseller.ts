import { openDatabase } from '../../src/db/database.ts';
import { insertAccount } from '../../src/iam/accounts/store.ts';
import { createTokenFor } from '../../src/iam/tokens/operator-token.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import type { TestService } from './service.ts';

export interface TestReseller {
  resellerId: number;
  /** The account that the reseller's own token works in. */
  clientId: number;
  /** Speaks with the reseller's token, which is no platform administrator's. */
  http: HttpClient;
}

/** A reseller with an account. No operation of the API makes one, so that it comes from the operator's side. */
export async function addReseller(service: TestService, name: string): Promise<TestReseller> {
  const database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 2);
  try {
    const now = systemClock.now();
    const { id: resellerId } = await database.sql
      .insertInto('resellers')
      .values({ name, created_at: now })
      .returning('id')
      .executeTakeFirstOrThrow();
    const { clientId } = await insertAccount(database.sql, {
      company: name,
      resellerId,
      administrator: {
        email: `admin@${name.toLowerCase()}.invalid`,
        resellerId: null,
        platformAdministrator: false,
      },
      now,
    });
    const { token } = await createTokenFor(
      { database, clock: systemClock },
      { clientId, resellerAccess: true, role: 'Administrators', name: 'Reseller', expires: null },
    );
    return { resellerId, clientId, http: createHttpClient(service.url, token) };
  } finally {
    await database.close();
  }
}
