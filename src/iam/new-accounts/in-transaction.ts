import type { Insertable } from 'kysely';
import { insertDefaultProject } from '../../cloud/ground/projects/in-transaction.ts';
import type { Sql } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { ConflictError } from '../../lib/errors.ts';
import { ROLES } from '../../requests/principal.ts';
import type { OfferedService } from '../accounts/schema.ts';
import { insertClient, keepReseller } from '../accounts/service.ts';
import { insertUser } from '../accounts/users/in-transaction.ts';
import { putForClient, shutUnavailable } from '../client-services/service.ts';

export interface Account {
  clientId: number;
  userId: number;
}

/**
 * Inserts a client account with its administrator and its default project.
 * @throws ConflictError if the reseller is deleted
 */
export async function insertAccount(
  db: Sql,
  account: {
    company: string;
    resellerId: number;
    administrator: Omit<Insertable<Tables['users']>, 'client_id' | 'created_at'>;
    details?: Partial<
      Pick<Insertable<Tables['clients']>, 'custom_id' | 'country_code' | 'is_test' | 'seller_id' | 'phone'>
    >;
    /** Products that it may or may not have, whatever the reseller's defaults say. */
    products?: readonly { product: OfferedService; available: boolean }[];
    now: Date;
  },
): Promise<Account> {
  const { company, resellerId, administrator, details, products = [], now } = account;
  if (!(await keepReseller(db, resellerId))) throw new ConflictError(`Reseller ${resellerId} is deleted`);
  const clientId = await insertClient(db, {
    company,
    reseller_id: resellerId,
    email: administrator.email,
    name: administrator.name ?? null,
    created_at: now,
    ...details,
  });
  const user = { ...administrator, client_id: clientId, created_at: now };
  const userId = await insertUser(db, user, ROLES.administrators.id);
  await putForClient(
    db,
    products.map((one) => ({ client_id: clientId, ...one })),
  );
  await shutUnavailable(db, clientId, now);
  await insertDefaultProject(db, clientId, now);
  return { clientId, userId };
}
