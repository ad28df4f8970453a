import { type Static, Type } from 'typebox';
import { TagAnswer, Uuid } from '../../../../lib/resource-fields.ts';
import { presentedTags } from '../../../../lib/tags.ts';
import { listOf, Named, nullable, orNull } from '../../../../lib/wire.ts';
import { statusFields } from '../schema.ts';
import type { Forest } from '../tree/parts.ts';

const named = { id: Uuid('ID'), name: Type.String({ description: 'Name' }), ...statusFields };
const MonitorStatus = Named('HealthMonitorStatus', {
  id: Uuid('Health monitor ID'),
  type: Type.String({ description: 'How members are asked' }),
  ...statusFields,
});
const PoolStatus = Named('PoolStatus', {
  ...named,
  health_monitor: orNull(MonitorStatus, 'Health monitor'),
  members: Type.Array(
    Named('PoolMemberStatus', {
      id: Uuid('Member ID'),
      address: Type.String({ description: 'IP address' }),
      protocol_port: Type.Integer({ description: 'Port' }),
      ...statusFields,
    }),
  ),
});
export const LoadBalancerStatus = Named('LoadBalancerStatus', {
  ...named,
  listeners: Type.Array(
    Named('ListenerStatus', {
      ...named,
      pools: Type.Array(PoolStatus, {
        description: 'Its default pool, and those to which its L7 policies send requests',
      }),
    }),
  ),
  tags: Type.Array(TagAnswer, { description: 'Tags' }),
});
export type LoadBalancerStatus = Static<typeof LoadBalancerStatus>;
export const LoadBalancerStatusList = listOf(LoadBalancerStatus, 'LoadBalancerStatusList');

const number = (description: string) => nullable(Type.Number({ description }));
export const LoadBalancerMetrics = listOf(
  Named('LoadBalancerMetrics', {
    time: Type.String({ description: 'In UTC', examples: ['2026-05-23T05:00:00Z'] }),
    cpu_util: number('CPU in use, in percent'),
    memory_util: number('Memory in use, in percent'),
    network_Bps_ingress: number('Bytes received per second'),
    network_Bps_egress: number('Bytes sent per second'),
    network_pps_ingress: number('Packets received per second'),
    network_pps_egress: number('Packets sent per second'),
  }),
  'LoadBalancerMetricsList',
);

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
      ...member,
      operating_status: operating(member.id, forest),
    })),
  };
}

function namedStatus(row: Pick<Forest['pools'][number], 'id' | 'name' | 'provisioning_status'>, forest: Forest) {
  const { id, name, provisioning_status } = row;
  return { id, name, provisioning_status, operating_status: operating(id, forest) };
}

const operating = (id: string, { statuses }: Forest) => statuses.get(id) ?? 'OFFLINE';
