import type { Database, Transaction } from '../../db/database.ts';
import { InvalidError, NotFoundError } from '../../lib/errors.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Clock } from '../../lib/time.ts';
import { ROLES, tokenText } from '../../requests/principal.ts';
import { insertUser, platformAdministrator } from '../accounts/users/in-transaction.ts';
import { findRoleByText, invalidRole } from '../identity/schema.ts';
import { makeToken } from './service.ts';
import { findAccountAdministrator } from './store.ts';

export interface OperatorToken {
  /** The token's account; by default the platform administrator's own. */
  clientId?: number | undefined;
  /** The token may also manage all clients of that account's reseller, but nothing else. */
  resellerAccess?: boolean | undefined;
  /** Id or name. */
  role: string;
  name: string;
  /** Null means never. */
  expires: Date | null;
}

/**
 * Makes a token for the operator, who needs no token to ask for it. The limit on tokens doesn't apply.
 * Without `clientId` and `resellerAccess`, the token acts for the platform administrator.
 * @throws InvalidError naming the option, NotFoundError for an unknown client
 */
export async function createTokenFor(
  { database, clock }: { database: Database; clock: Clock },
  options: OperatorToken,
): Promise<{ id: number; clientId: number; token: string }> {
  const now = clock.now();
  const role = findRoleByText(options.role);
  if (!role) {
    throw new InvalidError({ role: [invalidRole(options.role)] });
  }
  if (options.resellerAccess && role !== ROLES.administrators) {
    throw new InvalidError({ role: [`Reseller access needs the role ${ROLES.administrators.name}.`] });
  }
  if (options.expires && !(options.expires > now)) {
    throw new InvalidError({ expires: ['Must be a moment in the future.'] });
  }
  return database.accept(async (tx) => {
    const owner = await ownerOf(tx, options, now);
    const { id, secret } = await makeToken(tx, {
      client_id: owner.clientId,
      user_id: owner.userId,
      role_id: role.id,
      name: options.name,
      description: '',
      expires_at: options.expires,
      created_at: now,
    });
    noteAccount(owner.clientId);
    tx.made(id);
    return { id, clientId: owner.clientId, token: tokenText(2, id, secret) };
  });
}

async function ownerOf(
  tx: Transaction,
  options: OperatorToken,
  now: Date,
): Promise<{ clientId: number; userId: number }> {
  const platform = await platformAdministrator(tx.sql);
  const clientId = options.clientId ?? platform?.clientId;
  if (clientId === undefined) throw new NotFoundError('Client', 'of the platform administrator');
  if (options.resellerAccess) return { clientId, userId: await resellerUser(tx, clientId, now) };
  if (clientId === platform?.clientId) return platform;
  const userId = await findAccountAdministrator(tx.sql, clientId);
  if (userId === undefined) throw new NotFoundError('Client', clientId);
  return { clientId, userId };
}

/**
 * Returns the user of an account that acts for its reseller. The user is made when first needed, with an
 * address that doesn't exist.
 */
async function resellerUser(tx: Transaction, clientId: number, now: Date): Promise<number> {
  // The lock keeps two processes from making the user twice.
  const client = await tx.sql
    .selectFrom('clients')
    .select('reseller_id')
    .where('id', '=', clientId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!client) throw new NotFoundError('Client', clientId);
  const known = await tx.sql
    .selectFrom('users')
    .select('id')
    .where('client_id', '=', clientId)
    .where('reseller_id', '=', client.reseller_id)
    .where('platform_administrator', '=', false)
    // Such a token outlives those who come and go.
    .where('is_seller', '=', false)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .executeTakeFirst();
  if (known) return known.id;
  const user = {
    client_id: clientId,
    reseller_id: client.reseller_id,
    email: `reseller-${client.reseller_id}@client-${clientId}.invalid`,
    platform_administrator: false,
    created_at: now,
  };
  return insertUser(tx.sql, user, ROLES.administrators.id);
}
