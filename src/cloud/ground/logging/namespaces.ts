import { type Transaction, violates } from '../../../db/database.ts';
import type { Place } from '../../../db/place.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import { insertService, lockService, type ServiceRow } from './store.ts';

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
export async function initialise(
  tx: Transaction,
  place: Place,
  asked: string | null,
  now: Date,
): Promise<ServiceRow> {
  const namespace = asked ?? ownNamespace(place.projectId);
  refuseReserved(namespace, place.projectId);
  try {
    for (;;) {
      await insertService(tx, place, namespace, now);
      const service = await lockService(tx, place);
      // Undefined if the existing service was deleted between the two statements.
      if (service) return service;
    }
  } catch (error) {
    if (!violates(error, 'logging_services_namespace')) throw error;
    throw new ConflictError(
      `The namespace ${namespace} is already in use in this region; choose another one`,
    );
  }
}
