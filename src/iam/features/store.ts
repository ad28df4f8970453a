import { type Kysely, type Selectable, sql } from 'kysely';
import { compiledQuery } from '../../db/compiled.ts';
import type { Tables } from '../../db/tables.ts';

export type ActivationRow = Selectable<Tables['feature_activations']>;

/** Which activations the caller may see. */
export interface Reach {
  /** Only activations of this reseller's clients; undefined for all. */
  resellerId: number | undefined;
  /** Ids of the requested features. */
  featureIds: number[];
}

function within(db: Kysely<Tables>, { resellerId, featureIds }: Reach) {
  const matching = db
    .selectFrom('feature_activations')
    .selectAll('feature_activations')
    .where((row) => row('feature_id', '=', row.fn.any(row.val(featureIds))));
  if (resellerId === undefined) return matching;
  return matching
    .innerJoin('clients', 'clients.id', 'feature_activations.client_id')
    .where('clients.reseller_id', '=', resellerId);
}

const listAll = compiledQuery((db, { featureIds }: { featureIds: number[] }) =>
  within(db, { featureIds, resellerId: undefined }).orderBy('feature_activations.id').compile(),
);
const listOfReseller = compiledQuery((db, reach: { featureIds: number[]; resellerId: number }) =>
  within(db, reach).orderBy('feature_activations.id').compile(),
);

export async function listActivations(db: Kysely<Tables>, reach: Reach): Promise<ActivationRow[]> {
  const { resellerId, featureIds } = reach;
  return resellerId === undefined
    ? listAll(db, { featureIds })
    : listOfReseller(db, { featureIds, resellerId });
}

export async function activationsOfClients(db: Kysely<Tables>, clientIds: readonly number[]) {
  return db
    .selectFrom('feature_activations')
    .selectAll()
    .where((row) => row('client_id', '=', row.fn.any(row.val(clientIds))))
    .orderBy('id')
    .execute();
}

/** Whether a client has one of these features activated. The account of the platform administrator has all. */
export async function hasOneOf(
  db: Kysely<Tables>,
  clientId: number,
  featureIds: readonly number[],
): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (
        select from feature_activations
         where client_id = ${clientId} and feature_id = any(${[...featureIds]}::bigint[]))
      or exists (select from users where client_id = ${clientId} and platform_administrator) as has`.execute(
    db,
  );
  return rows[0]?.has ?? false;
}

export async function findActivation(db: Kysely<Tables>, reach: Reach, id: number) {
  return within(db, reach).where('feature_activations.id', '=', id).executeTakeFirst();
}

/** Returns undefined if the client has the feature already. */
export async function insertActivation(
  db: Kysely<Tables>,
  activation: { clientId: number; featureId: number; now: Date },
): Promise<ActivationRow | undefined> {
  return db
    .insertInto('feature_activations')
    .values({
      client_id: activation.clientId,
      feature_id: activation.featureId,
      created_at: activation.now,
    })
    .onConflict((conflict) => conflict.columns(['client_id', 'feature_id']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function deleteActivation(db: Kysely<Tables>, id: number): Promise<void> {
  await db.deleteFrom('feature_activations').where('id', '=', id).execute();
}
