import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { type Place, type Transaction, violates } from '../../../db/database.ts';
import { ConflictError, InvalidError, NotFoundError, QuotaExceededError } from '../../../lib/errors.ts';
import type { LogForwarding } from '../../../lib/log-forwarding.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { requireLoggingHosts } from '../catalog/service.ts';
import { limitOf, refuseSpent } from '../quotas/service.ts';
import { type LoggingStatus, NAMESPACE, type PutTopic, type UpdateLoggingStatus } from './schema.ts';
import * as store from './store.ts';
import { insertService, keepTopic, lockService, type ServiceRow } from './store.ts';

/** The namespace of a project that asked for none. No other project can choose it. */
const ownNamespace = (projectId: number): string => `p${projectId}`;

/** Whether the namespace is another project's default. */
export function isReserved(namespace: string, projectId: number): boolean {
  return /^p\d+$/.test(namespace) && namespace !== ownNamespace(projectId);
}

/** @throws InvalidError for a namespace that is another project's default */
function refuseReserved(namespace: string, projectId: number): void {
  if (!isReserved(namespace, projectId)) return;
  throw new InvalidError({
    namespace: ['Namespaces such as p12 are reserved for other projects; choose another one.'],
  });
}

/**
 * Locks and returns the logging of a project. Initialises it if necessary.
 * @throws InvalidError, ConflictError for a taken namespace
 */
export async function initialise(tx: Transaction, place: Place, asked: string | null): Promise<ServiceRow> {
  const namespace = asked ?? ownNamespace(place.projectId);
  refuseReserved(namespace, place.projectId);
  try {
    for (;;) {
      await insertService(tx, place, namespace);
      const service = await lockService(tx, place);
      // Undefined if the existing service was deleted between the two statements.
      if (service) return service;
    }
  } catch (error) {
    if (!violates(error, 'logging_services_namespace')) throw error;
    throw new ConflictError(`The namespace ${namespace} is already in use in this region; choose another one`);
  }
}

const ITERATIONS = 4096;

/**
 * Returns the form in which brokers store a password for SASL SCRAM-SHA-512 (RFC 5802, RFC 5803). It doesn't reveal
 * the password, and nobody can log in with it.
 */
export async function scramCredential(password: string): Promise<string> {
  const salt = randomBytes(32);
  const salted = await promisify(pbkdf2)(password, salt, ITERATIONS, 64, 'sha512');
  const keyed = (text: string) => createHmac('sha512', salted).update(text).digest();
  const stored = createHash('sha512').update(keyed('Client Key')).digest('base64');
  const server = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-512$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`;
}

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
      const service = await initialise(tx, scope, namespace);
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

export async function listLogTopics(on: Platform, scope: Scope, page: PageQuery): Promise<Page<store.TopicRow>> {
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
      services.push(begins ? await initialise(tx, scope, null) : requireInitialised(undefined));
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
  await refuseSpent(tx, scope);
  const limit = await limitOf(tx, scope, 'laas_topic_count');
  const projectIds = services.map((service) => service.project_id);
  const used = await store.countTopics(tx, projectIds, region.id);
  if (used < limit) return;
  throw new QuotaExceededError({ attribute: 'laas_topic_count', current_usage: used, requested_usage: 1, limit });
}

/**
 * Makes sure that the topic exists to which a cluster or a load balancer logs, if it logs at all. The topic stays when
 * logging is switched off. It is where the logs are stored, which may be another region. A retention period of null keeps
 * logs for ever; without one, the choice is left to the topic.
 */
export async function keepTopicOf(
  tx: Transaction,
  { projectId }: Pick<Place, 'projectId'>,
  logging: LogForwarding | null,
): Promise<void> {
  const { enabled = false, destination_region_id: regionId, topic_name: name } = logging ?? {};
  if (!enabled || typeof regionId !== 'number' || typeof name !== 'string') return;
  const place = { projectId, regionId };
  await initialise(tx, place, null);
  await keepTopic(tx, place, { name, retentionDays: logging?.retention_policy?.period });
}
