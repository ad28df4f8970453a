import { type Selectable, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { FeatureAnswer, presentFeature } from '../../cloud/ground/catalog/schema.ts';
import type { Feature } from '../../cloud/ground/catalog/service.ts';
import type { Sql, Transaction } from '../../db/database.ts';
import { compiledQuery } from '../../db/statements.ts';
import type { Tables } from '../../db/tables.ts';
import { FeatureMissingError, type FieldProblem, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { grouped } from '../../lib/lists.ts';
import { noteAccount } from '../../lib/request-context.ts';
import { isoMicros } from '../../lib/time.ts';
import { Input, IntegerId, Named, Timestamp } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import { findClient, lockClients, lockToAdd, renewVersions, resells } from '../accounts/service.ts';
import { availabilityOf, keepDefaults } from '../client-services/service.ts';

export type FeatureUse = NonNullable<Feature['needed_for']>;

/** The kind of each feature is in the catalogue. */
export type FeatureKind = 'paid' | 'free';

function presented(on: Platform, row: ActivationRow): FeatureActivation[] {
  const feature = on.catalog.features.get(row.feature_id);
  if (!feature) return [];
  return [
    {
      id: row.id,
      client_id: row.client_id,
      feature_id: row.feature_id,
      feature: presentFeature(feature),
      created_date: isoMicros(row.created_at),
    },
  ];
}

/** The caller passed the check for a reseller's token, so a caller without a reseller is the platform. */
function reachOf(on: Platform, principal: Principal, kind: FeatureKind): Reach {
  const resellerId = principal.platformAdministrator ? undefined : principal.resellerId;
  const features = [...on.catalog.features.values()].filter((feature) => kindOf(feature) === kind);
  return { resellerId, featureIds: features.map(({ id }) => id) };
}

async function found(on: Platform, sql: Sql, principal: Principal, kind: FeatureKind, id: number) {
  const row = await findActivation(sql, reachOf(on, principal, kind), id);
  const [activation] = row ? presented(on, row) : [];
  if (!activation) throw new NotFoundError(kind === 'paid' ? 'Paid feature' : 'Free feature', id);
  return activation;
}

async function refuseWrong(on: Platform, sql: Sql, principal: Principal, kind: FeatureKind, request: ActivateFeature) {
  const { client_id: clientId, feature_id: featureId } = request;
  const problems: FieldProblem[] = [];
  const client = await findClient(sql, clientId);
  if (!client || !resells(principal, client)) {
    problems.push({ field: 'client_id', message: `Client with id:${clientId} does not exists.` });
  }
  const feature = on.catalog.features.get(featureId);
  if (!feature) {
    problems.push({ field: 'feature_id', message: `Feature with id:${featureId} does not exists.` });
  } else if (kindOf(feature) !== kind) {
    const message = `Feature with id:${featureId} is a ${kindOf(feature)} feature; activate it under ${kindOf(feature)}_features.`;
    problems.push({ field: 'feature_id', message });
  }
  if (problems.length > 0) throw new InvalidError(problems);
}

async function requireAvailable(on: Platform, { sql }: Transaction, clientId: number, featureId: number) {
  const service = on.catalog.features.get(featureId)?.service;
  await keepDefaults(sql, clientId);
  const unavailable = (await availabilityOf(sql, [clientId])).some(
    ({ product, available }) => product === service && !available,
  );
  if (!unavailable) return;
  throw new InvalidError({ feature_id: [`${service} is not available to client ${clientId}.`] });
}

/** @throws NotFoundError */
export const getFeature = (on: Platform, principal: Principal, kind: FeatureKind, id: number) =>
  found(on, on.database.sql, principal, kind, id);

export async function listFeatures(
  on: Platform,
  principal: Principal,
  kind: FeatureKind,
): Promise<FeatureActivation[]> {
  const rows = await listActivations(on.database.sql, reachOf(on, principal, kind));
  return rows.flatMap((row) => presented(on, row));
}

/**
 * @throws InvalidError for an unknown client or feature, a feature of the other kind, or a second
 * activation; ConflictError while the client is being deleted
 */
export async function activateFeature(
  on: Platform,
  principal: Principal,
  kind: FeatureKind,
  request: ActivateFeature,
): Promise<FeatureActivation> {
  const { client_id: clientId, feature_id: featureId } = request;
  return on.database.accept(async (tx) => {
    await lockClients(tx, [clientId]);
    await refuseWrong(on, tx.sql, principal, kind, request);
    noteAccount(clientId);
    await lockToAdd(tx, clientId);
    await requireAvailable(on, tx, clientId, featureId);
    const row = await insertActivation(tx.sql, { clientId, featureId, now: tx.now });
    const [activation] = row ? presented(on, row) : [];
    if (activation) {
      tx.made(activation.id);
      await renewVersions(tx.sql, [clientId]);
      return activation;
    }
    throw new InvalidError({
      feature_id: [`Feature with id:${featureId} is already activated for client ${clientId}.`],
    });
  });
}

/** @throws NotFoundError */
export async function deactivateFeature(on: Platform, principal: Principal, kind: FeatureKind, id: number) {
  const { client_id: clientId } = await found(on, on.database.sql, principal, kind, id);
  await on.database.accept(async (tx) => {
    await lockClients(tx, [clientId]);
    await found(on, tx.sql, principal, kind, id);
    noteAccount(clientId);
    await tx.sql.deleteFrom('feature_activations').where('id', '=', id).execute();
    await renewVersions(tx.sql, [clientId]);
  });
}

/**
 * Refuses what the catalogue keeps for accounts with a certain feature. The account of the platform administrator needs
 * none. Nothing changes until the transaction of `db` ends if it has locked the account.
 * @throws FeatureMissingError
 */
export async function requireFeature(on: Platform, db: Sql, clientId: number, use: FeatureUse): Promise<void> {
  const opening = [...on.catalog.features.values()].filter((feature) => feature.needed_for === use);
  const [first] = opening;
  if (!first) return;
  const ids = opening.map(({ id }) => id);
  if (await hasOneOf(db, clientId, ids)) return;
  const body = JSON.stringify({ client_id: clientId, feature_id: first.id });
  throw new FeatureMissingError(
    `${use} needs the feature "${first.name}", which client ${clientId} does not have; its reseller can activate it: POST /iam/admin/${kindOf(first)}_features ${body}`,
  );
}

/** Returns the activations of both kinds by account, for the clients feature. */
export async function featuresOfClients(
  on: Platform,
  clientIds: readonly number[],
): Promise<ReadonlyMap<number, FeatureActivation[]>> {
  const rows = await activationsOfClients(on.database.sql, clientIds);
  return grouped(
    rows.flatMap((row) => presented(on, row)),
    ({ client_id }) => client_id,
  );
}

function kindOf(feature: Feature): FeatureKind {
  return feature.is_free ? 'free' : 'paid';
}

/** Deactivates all features of an account that is being deleted. */
export async function deactivateAllOf(tx: Transaction, clientId: number): Promise<void> {
  await tx.sql.deleteFrom('feature_activations').where('client_id', '=', clientId).execute();
}

export type ActivationRow = Selectable<Tables['feature_activations']>;

/** Which activations the caller may see. */
export interface Reach {
  /** Only activations of this reseller's clients; undefined for all. */
  resellerId: number | undefined;
  featureIds: number[];
}

function within(db: Sql, { resellerId, featureIds }: Reach) {
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

export async function listActivations(db: Sql, reach: Reach): Promise<ActivationRow[]> {
  const { resellerId, featureIds } = reach;
  return resellerId === undefined ? listAll(db, { featureIds }) : listOfReseller(db, { featureIds, resellerId });
}

export async function activationsOfClients(db: Sql, clientIds: readonly number[]) {
  return db
    .selectFrom('feature_activations')
    .selectAll()
    .where((row) => row('client_id', '=', row.fn.any(row.val(clientIds))))
    .orderBy('id')
    .execute();
}

/** Whether a client has one of these features activated. The account of the platform administrator has all. */
export async function hasOneOf(db: Sql, clientId: number, featureIds: readonly number[]): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (
        select from feature_activations
         where client_id = ${clientId} and feature_id = any(${[...featureIds]}::bigint[]))
      or exists (select from users where client_id = ${clientId} and platform_administrator) as has`.execute(db);
  return rows[0]?.has ?? false;
}

export async function findActivation(db: Sql, reach: Reach, id: number) {
  return within(db, reach).where('feature_activations.id', '=', id).executeTakeFirst();
}

/** Returns undefined if the client has the feature already. */
export async function insertActivation(db: Sql, activation: { clientId: number; featureId: number; now: Date }) {
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

export const FeatureParams = Type.Object({ featureId: IntegerId('Feature ID') });
export const ActivationParams = Type.Object({
  activatedFeatureId: IntegerId('ID of the activation, not of the feature'),
});

export const ActivateFeature = Input(
  'ActivateFeature',
  { client_id: IntegerId('Client ID'), feature_id: IntegerId('Feature ID') },
  { client_id: 1, feature_id: 5 },
);
export type ActivateFeature = Static<typeof ActivateFeature>;

export const FeatureActivation = Named('FeatureActivation', {
  id: Type.Integer({ description: 'ID of the activated feature', examples: [1] }),
  client_id: Type.Integer({ description: 'Client it is activated for', examples: [1] }),
  feature_id: Type.Integer({ description: 'Feature ID', examples: [5] }),
  feature: FeatureAnswer,
  created_date: Timestamp('When the feature was activated'),
});
export type FeatureActivation = Static<typeof FeatureActivation>;
export const FeatureActivationArray = Type.Array(FeatureActivation);
