import { type Static, Type } from 'typebox';
import { nullable } from '../../../../lib/nullable.ts';
import { TagAnswer, Uuid } from '../../../../lib/resource-fields.ts';
import { listOf, Named } from '../../../../lib/wire.ts';
import { statusFields } from '../schema.ts';

const named = { id: Uuid('ID'), name: Type.String({ description: 'Name' }), ...statusFields };
const MonitorStatus = Named('HealthMonitorStatus', {
  id: Uuid('Health monitor ID'),
  type: Type.String({ description: 'How members are asked' }),
  ...statusFields,
});
const PoolStatus = Named('PoolStatus', {
  ...named,
  health_monitor: Type.Unsafe<Static<typeof MonitorStatus> | null>({
    anyOf: [MonitorStatus, { type: 'null' }],
    description: 'Health monitor',
  }),
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
