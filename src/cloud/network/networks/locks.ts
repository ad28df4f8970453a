import { sql } from 'kysely';
import type { Name } from '../../../convergence/wants.ts';
import { isIn, type Place, type Sql, type Transaction } from '../../../db/database.ts';
import { ForbiddenError, NotFoundError } from '../../../lib/errors.ts';
import { isUuid, LOOKED_AT, refuseHeld, someOf } from '../../../lib/ids.ts';
import type { ResourceType } from '../../../lib/resources.ts';
import type { Scope } from '../../../platform.ts';
import { usedBy } from '../../ground/tasks/service.ts';
import { portsIn } from './network-rows.ts';
import type { NetworkOrSubnet } from './service.ts';

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

/* What of the wings above keeps a network or a subnet from being deleted. */

/** Returns up to `limit` clusters that keep a network or a subnet from being deleted, titled `cluster blue`. */
export async function clustersIn(
  tx: Transaction,
  place: Place,
  where: NetworkOrSubnet,
  limit: number,
): Promise<{ kind: 'cluster'; id: string; title: string }[]> {
  const [column, id] =
    'networkId' in where ? (['fixed_network', where.networkId] as const) : (['fixed_subnet', where.subnetId] as const);
  const rows = await tx.sql
    .selectFrom('kubernetes_clusters')
    .select(['id', 'name'])
    .where(isIn(place))
    .where(sql<boolean>`lower(${sql.ref(column)}) = ${id}`)
    .orderBy('name')
    .limit(limit)
    .execute();
  return rows.map(({ id: cluster, name }) => ({ kind: 'cluster', id: cluster, title: `cluster ${name}` }));
}

/** Returns up to `limit` shares that keep a network or a subnet from deletion, each as `file share data (<id>)`. */
export async function sharesIn(
  tx: Transaction,
  place: Place,
  where: NetworkOrSubnet,
  limit: number,
): Promise<{ kind: 'file_share'; id: string; title: string }[]> {
  const shares = tx.sql
    .selectFrom('file_shares')
    .select(['id', 'name'])
    .where(isIn(place))
    .orderBy('name')
    .orderBy('id')
    .limit(limit);
  const rows = await ('networkId' in where
    ? shares.where('network_id', '=', where.networkId)
    : shares.where('subnet_id', '=', where.subnetId)
  ).execute();
  return rows.map(({ id, name }) => ({ kind: 'file_share', id, title: `file share ${name} (${id})` }));
}

/**
 * Returns up to `limit` load balancers that keep a network or a subnet from deletion, each as `load balancer web (<id>)`:
 * those with their virtual address there, and those that reach members there.
 */
export async function balancersIn(
  tx: Transaction,
  place: Place,
  where: NetworkOrSubnet,
  limit: number,
): Promise<{ kind: 'load_balancer'; id: string; title: string }[]> {
  const subnets =
    'networkId' in where
      ? sql`select id from subnets where network_id = ${where.networkId}`
      : sql`select ${where.subnetId}::uuid as id`;
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from load_balancers as one
    where ${isIn(place)} and (
      exists (
        select from ports join ip_assignments on port_id = ports.id
        where ports.load_balancer_id = one.id and subnet_id in (${subnets}))
      or exists (select from lb_members where load_balancer_id = one.id and subnet_id in (${subnets})))
    order by name, id limit ${limit}`.execute(tx.sql);
  return rows.map(({ id, name }) => ({ kind: 'load_balancer', id, title: `load balancer ${name} (${id})` }));
}

/**
 * @throws ConflictError naming what uses the network or the subnet, which must be locked; a deletion may wait if all of it
 * is removed
 */
export async function refuseUsed(tx: Transaction, place: Place, what: string, where: NetworkOrSubnet): Promise<void> {
  const others = [
    ...(await clustersIn(tx, place, where, LOOKED_AT)),
    ...(await sharesIn(tx, place, where, LOOKED_AT)),
    ...(await balancersIn(tx, place, where, LOOKED_AT)),
  ];
  const ports = (await portsIn(tx, where, LOOKED_AT)).filter(
    // The others go together with what they belong to.
    ({ poolId, loadBalancerId, reserved }) => (poolId ?? loadBalancerId) === null || reserved || others.length === 0,
  );
  const named = ports.map(({ id, instanceId, instanceName }) =>
    instanceId === null ? `port ${id}` : `port ${id} of instance ${instanceName} (${instanceId})`,
  );
  const fixes = [
    ...(others.length > 0 ? [`delete these first: ${someOf(others.map(({ title }) => title))}`] : []),
    ...(named.length > 0 ? [`detach these interfaces or delete their instances first: ${someOf(named)}`] : []),
  ];
  if (fixes.length === 0) return;
  const users: Name[][] = [
    ...others.map(({ kind, id }) => [{ kind, id }]),
    ...ports.map(({ id, instanceId, reserved }): Name[] => [
      { kind: 'port', id },
      ...(instanceId === null || reserved ? [] : [{ kind: 'machine' as const, id: instanceId }]),
    ]),
  ];
  throw await usedBy(tx, `${what} is in use; ${fixes.join('; ')}`, users);
}
