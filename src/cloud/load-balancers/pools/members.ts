import { type Transaction, violates } from '../../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import type { Scope } from '../../projects/service.ts';
import type { Edits } from '../tree/edits.ts';
import { balancerOf, findPart } from '../tree/parts.ts';
import type { PartRow } from '../tree/store.ts';
import { CREATE_MEMBER, CREATE_MONITOR, DELETE_MEMBER } from '../tree/tasks.ts';
import { placeMembers } from './member-places.ts';
import { memberOf, monitorOf } from './rules.ts';
import { type CreateHealthMonitor, type CreateMember, MAX_MEMBERS } from './schema.ts';

/** Members and health monitors of pools. All refuse with ConflictError while a task holds the load balancer. */
export interface PoolParts {
  /**
   * Returns the task that adds a member.
   * @throws NotFoundError, InvalidError, ConflictError for an address and port that the pool has, or when it is full
   */
  addMember(scope: Scope, poolId: string, request: CreateMember): Promise<string | undefined>;
  /** Returns the task that removes a member. @throws NotFoundError for the pool or the member */
  removeMember(scope: Scope, poolId: string, memberId: string): Promise<string | undefined>;
  /** Returns the task that adds a monitor. @throws NotFoundError, InvalidError, ConflictError if the pool has one */
  addMonitor(scope: Scope, poolId: string, request: CreateHealthMonitor): Promise<string | undefined>;
  /** Removes the monitor at once. @throws NotFoundError, also for a pool without one */
  removeMonitor(scope: Scope, poolId: string): Promise<void>;
}

export function createPoolParts({ edits }: { edits: Edits }): PoolParts {
  return {
    addMember: (scope, poolId, request) =>
      edits.change(scope, CREATE_MEMBER, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
        const pool = await lockedPool(tx, scope, poolId);
        const problems: FieldProblem[] = [];
        const wanted = memberOf(request, '', problems);
        if (problems.length > 0) throw new InvalidError(problems);
        const [member] = await placeMembers(tx, scope, [wanted]);
        if (!member) throw new TypeError('each member is placed');
        await refuseMore(tx, pool);
        const inserting = edit.insert('lb_members', [{ ...member, pool_id: pool.id }]);
        const members = await inserting.catch((error: unknown) => {
          if (!violates(error, 'lb_members_address')) throw error;
          throw new ConflictError(
            `Pool ${pool.name} already has a member ${member.address} with port ${member.protocol_port}`,
          );
        });
        scope.principal.writes?.about({ type: 'lbpool_member', id: members[0] ?? '', name: member.address });
        return { data: { ...request, pool_id: pool.id, member_id: members[0] }, created: { members } };
      }),

    removeMember: (scope, poolId, memberId) =>
      edits.change(scope, DELETE_MEMBER, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
        const pool = await lockedPool(tx, scope, poolId);
        const member = await findPart(tx.sql, scope, 'lb_members', memberId);
        if (member.pool_id !== pool.id) throw new NotFoundError('Member', memberId);
        scope.principal.writes?.about({ type: 'lbpool_member', id: member.id, name: member.address });
        await edit.remove('lb_members', [member.id]);
        return { data: { pool_id: pool.id, member_id: member.id } };
      }),

    addMonitor: (scope, poolId, request) =>
      edits.change(scope, CREATE_MONITOR, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
        const pool = await lockedPool(tx, scope, poolId);
        if (pool.health_monitor) {
          throw new ConflictError(
            `Pool ${pool.name} already has the health monitor ${pool.health_monitor.id}; change that one, or delete it first`,
          );
        }
        const problems: FieldProblem[] = [];
        const monitor = monitorOf(request, null, pool.protocol, '', problems);
        if (problems.length > 0) throw new InvalidError(problems);
        scope.principal.writes?.about({ type: 'lb_health_monitor', id: monitor.id, name: null });
        await edit.update('lb_pools', pool, { health_monitor: monitor });
        const created = { healthmonitors: [monitor.id] };
        return { data: { ...request, pool_id: pool.id }, created };
      }),

    removeMonitor: (scope, poolId) =>
      edits.now(scope, balancerOf(scope, 'lb_pools', poolId), async (tx) => {
        const pool = await lockedPool(tx, scope, poolId);
        if (!pool.health_monitor) throw new NotFoundError('Health monitor of pool', poolId);
        scope.principal.writes?.about({ type: 'lb_health_monitor', id: pool.health_monitor.id, name: null });
        return { table: 'lb_pools', id: pool.id, values: { health_monitor: null } };
      }),
  };
}

async function lockedPool(tx: Transaction, scope: Scope, id: string): Promise<PartRow<'lb_pools'>> {
  const pool = await findPart(tx.sql, scope, 'lb_pools', id);
  scope.principal.writes?.about({ ...pool, type: 'lbpool' });
  return pool;
}

async function refuseMore(tx: Transaction, pool: PartRow<'lb_pools'>): Promise<void> {
  const { count } = await tx.sql
    .selectFrom('lb_members')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('pool_id', '=', pool.id)
    .executeTakeFirstOrThrow();
  if (Number(count) < MAX_MEMBERS) return;
  throw new ConflictError(`Pool ${pool.name} already has ${MAX_MEMBERS} members, the maximum`);
}
