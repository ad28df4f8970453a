import { presentFeature } from '../../cloud/ground/catalog/feature-schema.ts';
import type { Catalog, Feature } from '../../cloud/ground/catalog/service.ts';
import type { Database, Sql, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { FeatureMissingError, type FieldProblem, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { isoMicros } from '../../lib/timestamps.ts';
import type { Principal } from '../../requests/principal.ts';
import { lockClients, lockToAdd, renewVersions } from '../accounts/in-transaction.ts';
import { findClient, resells } from '../accounts/service.ts';
import { availabilityOf, keepDefaults } from '../client-services/in-transaction.ts';
import type { ActivateFeature, FeatureActivation } from './schema.ts';
import * as store from './store.ts';

/** What features open. */
export type FeatureUse = NonNullable<Feature['needed_for']>;

/** The kind of each feature is in the catalogue. */
export type FeatureKind = 'paid' | 'free';

/**
 * Features that a reseller activates for its clients. Resellers reach the activations of their own clients,
 * the platform administrator all. Activations of features that were removed from the catalogue are not shown.
 */
export interface Features {
  list(principal: Principal, kind: FeatureKind): Promise<FeatureActivation[]>;
  /**
   * @throws InvalidError for an unknown client or feature, a feature of the other kind, or a second
   * activation; ConflictError while the client is being deleted
   */
  activate(principal: Principal, kind: FeatureKind, request: ActivateFeature): Promise<FeatureActivation>;
  /** @throws NotFoundError */
  get(principal: Principal, kind: FeatureKind, id: number): Promise<FeatureActivation>;
  /** @throws NotFoundError */
  deactivate(principal: Principal, kind: FeatureKind, id: number): Promise<void>;
  /**
   * Refuses what the catalogue keeps for accounts with a certain feature. The account of the platform administrator needs
   * none. Nothing changes until the transaction of `db` ends if it has locked the account.
   * @throws FeatureMissingError
   */
  require(db: Sql, clientId: number, use: FeatureUse): Promise<void>;
  /** Returns activations of both kinds, for the clients feature. */
  ofClients(clientIds: readonly number[]): Promise<FeatureActivation[]>;
}

export function createFeatures(deps: { database: Database; clock: Clock; catalog: Catalog }): Features {
  const { database, clock, catalog } = deps;

  function presented(row: store.ActivationRow): FeatureActivation[] {
    const feature = catalog.features.get(row.feature_id);
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
  function reachOf(principal: Principal, kind: FeatureKind): store.Reach {
    const resellerId = principal.platformAdministrator ? undefined : principal.resellerId;
    const features = [...catalog.features.values()].filter((feature) => kindOf(feature) === kind);
    return { resellerId, featureIds: features.map(({ id }) => id) };
  }

  async function found(sql: Sql, principal: Principal, kind: FeatureKind, id: number) {
    const row = await store.findActivation(sql, reachOf(principal, kind), id);
    const [activation] = row ? presented(row) : [];
    if (!activation) throw new NotFoundError(kind === 'paid' ? 'Paid feature' : 'Free feature', id);
    return activation;
  }

  async function refuseWrong(
    sql: Sql,
    principal: Principal,
    kind: FeatureKind,
    request: ActivateFeature,
  ): Promise<void> {
    const { client_id: clientId, feature_id: featureId } = request;
    const problems: FieldProblem[] = [];
    const client = await findClient(sql, clientId);
    if (!client || !resells(principal, client)) {
      problems.push({ field: 'client_id', message: `Client with id:${clientId} does not exists.` });
    }
    const feature = catalog.features.get(featureId);
    if (!feature) {
      problems.push({ field: 'feature_id', message: `Feature with id:${featureId} does not exists.` });
    } else if (kindOf(feature) !== kind) {
      const message = `Feature with id:${featureId} is a ${kindOf(feature)} feature; activate it under ${kindOf(feature)}_features.`;
      problems.push({ field: 'feature_id', message });
    }
    if (problems.length > 0) throw new InvalidError(problems);
  }

  async function requireAvailable({ sql }: Transaction, clientId: number, featureId: number): Promise<void> {
    const service = catalog.features.get(featureId)?.service;
    await keepDefaults(sql, clientId);
    const unavailable = (await availabilityOf(sql, [clientId])).some(
      ({ product, available }) => product === service && !available,
    );
    if (!unavailable) return;
    throw new InvalidError({ feature_id: [`${service} is not available to client ${clientId}.`] });
  }

  return {
    get: (principal, kind, id) => found(database.sql, principal, kind, id),

    async list(principal, kind) {
      const rows = await store.listActivations(database.sql, reachOf(principal, kind));
      return rows.flatMap(presented);
    },

    async activate(principal, kind, request) {
      const { client_id: clientId, feature_id: featureId } = request;
      return database.accept(principal, async (tx) => {
        await lockClients(tx, [clientId]);
        await refuseWrong(tx.sql, principal, kind, request);
        principal.writes?.concerns(clientId);
        await lockToAdd(tx, clientId);
        await requireAvailable(tx, clientId, featureId);
        const row = await store.insertActivation(tx.sql, { clientId, featureId, now: clock.now() });
        const [activation] = row ? presented(row) : [];
        if (activation) {
          principal.writes?.made(activation.id);
          await renewVersions(tx.sql, [clientId]);
          return activation;
        }
        throw new InvalidError({
          feature_id: [`Feature with id:${featureId} is already activated for client ${clientId}.`],
        });
      });
    },

    async deactivate(principal, kind, id) {
      const { client_id: clientId } = await found(database.sql, principal, kind, id);
      await database.accept(principal, async (tx) => {
        await lockClients(tx, [clientId]);
        await found(tx.sql, principal, kind, id);
        principal.writes?.concerns(clientId);
        await store.deleteActivation(tx.sql, id);
        await renewVersions(tx.sql, [clientId]);
      });
    },

    async require(db, clientId, use) {
      const opening = [...catalog.features.values()].filter((feature) => feature.needed_for === use);
      const [first] = opening;
      if (!first) return;
      const ids = opening.map(({ id }) => id);
      if (await store.hasOneOf(db, clientId, ids)) return;
      const body = JSON.stringify({ client_id: clientId, feature_id: first.id });
      throw new FeatureMissingError(
        `${use} needs the feature "${first.name}", which client ${clientId} does not have; its reseller can activate it: POST /iam/admin/${kindOf(first)}_features ${body}`,
      );
    },

    async ofClients(clientIds) {
      return (await store.activationsOfClients(database.sql, clientIds)).flatMap(presented);
    },
  };
}

function kindOf(feature: Feature): FeatureKind {
  return feature.is_free ? 'free' : 'paid';
}
