import type { Sql, Transaction } from '../../../db/database.ts';
import type { Place } from '../../../db/place.ts';
import { ForbiddenError, NotFoundError } from '../../../lib/errors.ts';
import { isUuid, refuseHeld } from '../../../lib/ids.ts';
import type { ResourceType } from '../../../lib/resources.ts';
import type { Scope } from '../../../platform.ts';

interface Kind<Row> {
  /** What clients call the kind. */
  name: string;
  type: ResourceType;
  /** Locks a row of the project. */
  lock(tx: Transaction, place: Place, id: string): Promise<Row | undefined>;
  /** Finds a row that the project sees, including the platform's. */
  find(db: Sql, place: Place, id: string): Promise<object | undefined>;
}

/**
 * Locks a project's own resource for a change.
 * @throws NotFoundError, ForbiddenError for the platform's, ConflictError while a task holds it
 */
export async function lockOwn<Row extends { id: string; name: string; task_id: string | null }>(
  tx: Transaction,
  scope: Scope,
  id: string,
  kind: Kind<Row>,
): Promise<Row> {
  const own = await lockAlsoHeld(tx, scope, id, kind);
  refuseHeld(`${kind.name} ${own.name}`, own);
  return own;
}

/** Locks it even if a task holds it. */
export async function lockAlsoHeld<Row extends { id: string; name: string; task_id: string | null }>(
  tx: Transaction,
  scope: Scope,
  id: string,
  kind: Kind<Row>,
): Promise<Row> {
  if (!isUuid(id)) throw new NotFoundError(kind.name, id);
  const own = await kind.lock(tx, scope, id);
  if (own) {
    tx.about({ ...own, type: kind.type });
    return own;
  }
  if (await kind.find(tx.sql, scope, id)) {
    throw new ForbiddenError(`${kind.name} ${id} belongs to the platform and can't be changed`);
  }
  throw new NotFoundError(kind.name, id);
}
