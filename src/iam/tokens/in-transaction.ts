import { randomBytes } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { ConflictError } from '../../lib/errors.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { announceTokens, type Credentials, together } from '../identity/in-transaction.ts';
import { secretHash } from '../identity/service.ts';
import { endLogins } from '../logins/in-transaction.ts';

/**
 * Creates a token with a fresh secret. Its text is only known now, because only a hash is stored. The token is
 * announced, because a process may remember that the ID did not exist.
 */
export async function makeToken(
  tx: Transaction,
  token: Omit<Insertable<Tables['api_tokens']>, 'secret_hash'>,
): Promise<{ id: number; secret: string }> {
  const secret = randomBytes(32).toString('hex');
  const { id } = await tx.sql
    .insertInto('api_tokens')
    .values({ ...token, secret_hash: secretHash(secret) })
    .returning('id')
    .executeTakeFirstOrThrow();
  await announceTokens(tx, [id]);
  return { id, secret };
}

/**
 * Inserts a token whose ID and secret somebody else chose, unless it is there. The ID may be one of an account that was
 * deleted. @throws ConflictError if the ID or the secret is another token's
 */
export async function putGivenToken(
  tx: Transaction,
  { id, secret }: { id: number; secret: string },
  of: Omit<Insertable<Tables['api_tokens']>, 'id' | 'secret_hash'>,
): Promise<void> {
  const { numInsertedOrUpdatedRows = 0n } = await tx.sql
    .insertInto('api_tokens')
    .values({ ...of, id, secret_hash: secretHash(secret) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows > 0n) {
    await announceTokens(tx, [id]);
    return;
  }
  const known = await tx.sql
    .selectFrom('api_tokens')
    .innerJoin('clients', 'clients.id', 'client_id')
    .select(['client_id', 'secret_hash', 'api_tokens.deleted_at', 'clients.deleted_at as account_deleted_at'])
    .where('api_tokens.id', '=', id)
    .executeTakeFirst();
  if (known?.account_deleted_at) {
    await tx.sql.deleteFrom('api_tokens').where('id', '=', id).execute();
    return putGivenToken(tx, { id, secret }, of);
  }
  const isSame = known?.client_id === of.client_id && known.secret_hash.equals(secretHash(secret));
  if (!isSame) throw new ConflictError(`Another API token has the ID ${id}; choose another one`);
  if (known.deleted_at) throw new ConflictError(`The API token ${id} was revoked; choose another ID`);
}

/** Makes the setting's bootstrap token the only one: a token of an earlier value stops working. */
export async function setBootstrapToken(
  tx: Transaction,
  token: { id: number; secret: string },
  of: Omit<Insertable<Tables['api_tokens']>, 'name' | 'secret_hash'>,
): Promise<void> {
  await removeOtherBootstrapTokens(tx, token);
  const row = {
    ...of,
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

/** Deletes bootstrap tokens with another ID. One whose secret changes loses the logins that it created. */
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
  await endLogins(tx, { tokenIds: ids });
  const gone = ids.filter((id) => id !== token.id);
  if (gone.length > 0) await tx.sql.deleteFrom('api_tokens').where('id', 'in', gone).execute();
  await announceTokens(tx, gone);
}

/** Deletes an account's tokens that were made from another account, with the logins made by them. */
export const deleteTokensOfOutsiders = (tx: Transaction, clientId: number, now: Date): Promise<Credentials> =>
  deleteTokens(tx, { clientId, onlyOfOutsiders: true }, now);

/** Deletes all tokens of an account, with the logins made by them. */
export const deleteTokensOf = (tx: Transaction, clientId: number, now: Date): Promise<Credentials> =>
  deleteTokens(tx, { clientId, onlyOfOutsiders: false }, now);

async function deleteTokens(
  tx: Transaction,
  { clientId, onlyOfOutsiders }: { clientId: number; onlyOfOutsiders: boolean },
  now: Date,
): Promise<Credentials> {
  let those = tx.sql
    .updateTable('api_tokens')
    .set({ deleted_at: now })
    .where('client_id', '=', clientId)
    .where('deleted_at', 'is', null);
  if (onlyOfOutsiders) those = those.where('maker_client_id', 'is not', null);
  const gone = await those.returning('id').execute();
  const ids = gone.map(({ id }) => id);
  const announced = await announceTokens(tx, ids);
  return together(announced, await endLogins(tx, { tokenIds: ids }));
}

/** The bootstrap token's ID belongs to a token that was created through the API. */
export class BootstrapTokenTakenError extends OperatorError {}
