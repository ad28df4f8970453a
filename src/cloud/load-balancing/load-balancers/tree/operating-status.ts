import type { MemberHealth } from '../../../../backends/contract/specs.ts';
import { grouped } from '../../../../lib/lists.ts';
import type { Trees } from './store.ts';

export const OPERATING_STATUSES = ['DEGRADED', 'DRAINING', 'ERROR', 'NO_MONITOR', 'OFFLINE', 'ONLINE'] as const;
export type OperatingStatus = (typeof OPERATING_STATUSES)[number];

/** The operating statuses of load balancers and all their parts, by ID. */
export type Statuses = ReadonlyMap<string, OperatingStatus>;

/**
 * Derives every operating status from the health of the members, upwards:
 * - What is being created or switched off is OFFLINE.
 * - A member has the health that its pool's monitor found; without a monitor, NO_MONITOR.
 * - A pool is ERROR if none of its members that are switched on works, and DEGRADED if some don't.
 * - A listener is ERROR if its default pool is, and DEGRADED if any pool that it uses doesn't work fully.
 * - A load balancer is ERROR if all its listeners are, and DEGRADED if some don't work fully.
 */
export function operatingStatuses(trees: Trees): Statuses {
  const statuses = new Map<string, OperatingStatus>();
  const statusOf = (id: string | null) => (id === null ? undefined : statuses.get(id));
  const note = (row: Switchable, status: () => OperatingStatus) =>
    statuses.set(row.id, isOff(row) ? 'OFFLINE' : status());

  const pools = new Map(trees.pools.map((pool) => [pool.id, pool]));
  for (const member of trees.members) {
    const monitor = pools.get(member.pool_id)?.health_monitor;
    note(member, () => (monitor?.admin_state_up ? healthOf(member.id, trees.health) : 'NO_MONITOR'));
  }
  const membersOf = grouped(trees.members, ({ pool_id }) => pool_id);
  for (const pool of trees.pools) {
    const members = membersOf.get(pool.id) ?? [];
    note(pool, () => worst(members.map(({ id }) => statusOf(id))));
    if (pool.health_monitor) {
      const { id, admin_state_up } = pool.health_monitor;
      note({ ...pool, id, admin_state_up }, () => 'ONLINE');
    }
  }
  for (const part of [...trees.policies, ...trees.rules]) note(part, () => 'ONLINE');
  const policiesOf = grouped(trees.policies, ({ listener_id }) => listener_id);
  for (const listener of trees.listeners) {
    const redirects = (policiesOf.get(listener.id) ?? []).map((policy) => statusOf(policy.redirect_pool_id));
    const own = statusOf(listener.default_pool_id);
    note(listener, () => {
      if (own === 'ERROR') return 'ERROR';
      return [own, ...redirects].some(isBad) ? 'DEGRADED' : 'ONLINE';
    });
  }
  const listenersOf = grouped(trees.listeners, ({ load_balancer_id }) => load_balancer_id);
  for (const balancer of trees.balancers) {
    const listeners = listenersOf.get(balancer.id) ?? [];
    note(balancer, () => worst(listeners.map(({ id }) => statusOf(id))));
  }
  return statuses;
}

interface Switchable {
  id: string;
  provisioning_status: string;
  admin_state_up?: boolean;
}

const isOff = ({ provisioning_status, admin_state_up = true }: Switchable) =>
  !admin_state_up || provisioning_status === 'PENDING_CREATE';

const isBad = (status: OperatingStatus | undefined) => status === 'DEGRADED' || status === 'ERROR';

/** What is switched off doesn't count. */
function worst(parts: readonly (OperatingStatus | undefined)[]): OperatingStatus {
  const counted = parts.filter((status) => status !== undefined && status !== 'OFFLINE');
  if (counted.length > 0 && counted.every((status) => status === 'ERROR')) return 'ERROR';
  return counted.some(isBad) ? 'DEGRADED' : 'ONLINE';
}

/** A member that nobody has asked yet counts as one that works. */
function healthOf(id: string, health: Record<string, MemberHealth>): OperatingStatus {
  return health[id] ?? 'ONLINE';
}
