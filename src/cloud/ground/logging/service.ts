import { randomBytes } from 'node:crypto';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError, InvalidError, NotFoundError, QuotaExceededError } from '../../../lib/errors.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';
import type { Platform } from '../../../platform.ts';
import { requireLoggingHosts } from '../catalog/service.ts';
import type { Scope } from '../projects/service.ts';
import { limitOf } from '../quotas/in-transaction.ts';
import { initialise, isReserved } from './namespaces.ts';
import { type LoggingStatus, NAMESPACE, type PutTopic, type UpdateLoggingStatus } from './schema.ts';
import { scramCredential } from './scram.ts';
import * as store from './store.ts';

/* Logging of projects. Everything except `status` throws InvalidError where the region has no logging. */

const requireOffered = (on: Platform, { region }: Scope) => requireLoggingHosts(on.catalog, region);

export const getLoggingStatus = async (on: Platform, scope: Scope): Promise<LoggingStatus> =>
  shown(await store.findService(on.database.sql, scope));

/** @throws InvalidError, ConflictError for a taken or changed namespace, and when disabled while there are topics */
export async function setLoggingStatus(
  on: Platform,
  scope: Scope,
  wanted: UpdateLoggingStatus,
): Promise<LoggingStatus> {
  requireOffered(on, scope);
  const namespace = wanted.namespace ?? null;
  return on.database.accept(async (tx) => {
    if (wanted.is_initialized) {
      const service = await initialise(tx, scope, namespace, tx.now);
      if (namespace !== null && namespace !== service.namespace) {
        throw new ConflictError(
          `Logging is already initialised with the namespace ${service.namespace}, which can't be changed; leave it out`,
        );
      }
      tx.about({ type: 'laas', id: service.namespace, name: service.namespace });
      return shown(service);
    }
    if (namespace !== null) {
      throw new InvalidError({ namespace: ['Is only allowed with is_initialized true; leave it out.'] });
    }
    const service = await store.lockService(tx, scope);
    if (service) tx.about({ type: 'laas', id: service.namespace, name: service.namespace });
    const count = service ? await store.countTopics(tx, [scope.projectId], scope.regionId) : 0;
    if (count > 0) {
      throw new ConflictError(`Logging still has ${count} topics in this region; delete them first`);
    }
    await store.deleteService(tx, scope);
    return shown(undefined);
  });
}

/** Whether the project could have the namespace. @throws InvalidError for what can't be one */
export async function isLoggingAvailable(on: Platform, scope: Scope, namespace: string): Promise<boolean> {
  requireOffered(on, scope);
  if (!new RegExp(NAMESPACE.pattern).test(namespace)) {
    throw new InvalidError({ namespace_name: [NAMESPACE.rule] });
  }
  return !isReserved(namespace, scope.projectId) && !(await store.isTaken(on.database.sql, scope, namespace));
}

export async function listLogTopics(
  on: Platform,
  scope: Scope,
  page: PageQuery,
): Promise<Page<store.TopicRow>> {
  requireOffered(on, scope);
  return store.listTopics(on.database.sql, scope, page);
}

/**
 * Creates a topic or replaces its settings. `begins`: initialises logging if necessary, as the logging of a cluster does.
 * @throws ConflictError before initialisation, QuotaExceededError
 */
export async function putLogTopic(
  on: Platform,
  scope: Scope,
  topic: PutTopic,
  { begins }: { begins: boolean },
): Promise<store.TopicRow> {
  requireOffered(on, scope);
  return on.database.accept(async (tx) => {
    const { clientId } = scope;
    const services = await store.lockServicesOf(tx, { clientId, regionId: scope.regionId });
    if (!services.some((one) => one.project_id === scope.projectId)) {
      services.push(begins ? await initialise(tx, scope, null, tx.now) : requireInitialised(undefined));
    }
    if (!(await store.lockTopic(tx, scope, topic.name))) await requireRoom(tx, scope, services);
    const row = {
      project_id: scope.projectId,
      region_id: scope.regionId,
      name: topic.name,
      retention_days: topic.retention_policy?.period ?? null,
      index_pattern_id: topic.index_pattern?.id ?? null,
      size_in_bytes: topic.size_in_bytes ?? 0,
    };
    tx.about({ type: 'laas_topic', id: topic.name, name: topic.name });
    await store.putTopic(tx, row);
    return row;
  });
}

/** @throws NotFoundError, ConflictError while a cluster logs to it */
export async function deleteLogTopic(on: Platform, scope: Scope, name: string): Promise<void> {
  requireOffered(on, scope);
  await on.database.accept(async (tx) => {
    if (!(await store.lockTopic(tx, scope, name))) throw new NotFoundError('Topic', name);
    const cluster = await store.clusterLoggingInto(tx, scope, name);
    if (cluster !== undefined) {
      throw new ConflictError(
        `Cluster ${cluster} sends its logs to topic ${name}; disable its logging or choose another topic for it first`,
      );
    }
    await store.deleteTopic(tx, scope, name);
  });
}

/** Gives the project's user a new password and revokes the old one. @throws ConflictError before initialisation */
export async function renewLoggingPassword(
  on: Platform,
  scope: Scope,
): Promise<{ username: string; password: string }> {
  requireOffered(on, scope);
  const password = randomBytes(32).toString('base64url');
  const credential = await scramCredential(password);
  return on.database.accept(async (tx) => {
    const { namespace: username } = requireInitialised(await store.lockService(tx, scope));
    tx.about({ type: 'laas', id: username, name: username });
    await store.setCredential(tx, scope, credential);
    return { username, password };
  });
}

function shown(service: store.ServiceRow | undefined): LoggingStatus {
  return { is_initialized: service !== undefined, namespace: service?.namespace ?? null };
}

/** @throws ConflictError when logging is not initialised */
function requireInitialised(service: store.ServiceRow | undefined): store.ServiceRow {
  if (service) return service;
  throw new ConflictError('Logging is not initialised in this project and region; set is_initialized first');
}

/** Checks the account's quota for another topic. The account's logging must be locked. @throws QuotaExceededError */
async function requireRoom(tx: Transaction, scope: Scope, services: store.ServiceRow[]): Promise<void> {
  const { region } = scope;
  const limit = await limitOf(tx, scope, 'laas_topic_count');
  const projectIds = services.map((service) => service.project_id);
  const used = await store.countTopics(tx, projectIds, region.id);
  if (used < limit) return;
  throw new QuotaExceededError({
    attribute: 'laas_topic_count',
    current_usage: used,
    requested_usage: 1,
    limit,
  });
}
