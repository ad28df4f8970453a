import { presentedTags } from '../../../../lib/tag-list.ts';
import type { Forest } from '../tree/parts.ts';
import type { LoadBalancerStatus } from './schema.ts';

/** Presents the statuses of a load balancer and of everything below it. */
export function presentedStatus(row: Forest['balancers'][number], forest: Forest): LoadBalancerStatus {
  const listeners = forest.listenersOf.get(row.id) ?? [];
  return {
    ...namedStatus(row, forest),
    listeners: listeners.map((listener) => ({
      ...namedStatus(listener, forest),
      pools: poolsOf(listener, forest).map((pool) => poolStatus(pool, forest)),
    })),
    tags: presentedTags(row.tags),
  };
}

/** The default pool comes first, then those of policies in their order, each once. */
function poolsOf(listener: Forest['listeners'][number], { poolById, policiesOf }: Forest) {
  const policies = policiesOf.get(listener.id) ?? [];
  const ids = new Set([listener.default_pool_id, ...policies.map((one) => one.redirect_pool_id)]);
  return [...ids].flatMap((id) => (id === null ? [] : (poolById.get(id) ?? [])));
}

function poolStatus(pool: Forest['pools'][number], forest: Forest) {
  const { health_monitor: monitor, provisioning_status } = pool;
  return {
    ...namedStatus(pool, forest),
    health_monitor: monitor && {
      id: monitor.id,
      type: monitor.type,
      provisioning_status,
      operating_status: operating(monitor.id, forest),
    },
    members: (forest.membersOf.get(pool.id) ?? []).map((member) => ({
      id: member.id,
      address: member.address,
      protocol_port: member.protocol_port,
      provisioning_status: member.provisioning_status,
      operating_status: operating(member.id, forest),
    })),
  };
}

function namedStatus(
  row: Pick<Forest['pools'][number], 'id' | 'name' | 'provisioning_status'>,
  forest: Forest,
) {
  const { id, name, provisioning_status } = row;
  return { id, name, provisioning_status, operating_status: operating(id, forest) };
}

const operating = (id: string, { statuses }: Forest) => statuses.get(id) ?? 'OFFLINE';
