import type { Kysely, Selectable } from 'kysely';
import type { Tables } from '../../../db/tables.ts';

export type CredentialsRow = Selectable<Tables['kubernetes_credentials']>;

/** Keeps what is there: a second attempt of the same work makes no other authority. */
export async function keepCredentials(db: Kysely<Tables>, row: CredentialsRow): Promise<void> {
  await db
    .insertInto('kubernetes_credentials')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function findCredentials(
  db: Kysely<Tables>,
  clusterId: string,
): Promise<CredentialsRow | undefined> {
  return db
    .selectFrom('kubernetes_credentials')
    .selectAll()
    .where('cluster_id', '=', clusterId)
    .executeTakeFirst();
}
