import { type Static, Type } from 'typebox';
import { idleTimes, type MetricsQuestion } from '../../../lib/node-settings.ts';
import { Uuid } from '../../../lib/resource-fields.ts';
import { Choice, listOf, Named, nullable } from '../../../lib/wire.ts';
import type { RouterRow } from './store.ts';

const number = (description: string) => nullable(Type.Number({ description }));
const InterfaceMetrics = Named('RouterInterfaceMetrics', {
  interface_type: Choice(['private', 'public'], '`public` is the external gateway, `private` an interface in a subnet'),
  port_id: Uuid('Port ID; that of the router for the gateway, which has no port of its own'),
  network_id: Uuid('Network ID'),
  ip_addresses: Type.Array(Type.String({ examples: ['10.10.0.1'] }), { description: 'Its addresses' }),
  metrics: Type.Array(
    Named('RouterMetrics', {
      time: Type.String({ description: 'In UTC', examples: ['2026-05-23T05:00:00Z'] }),
      network_bps_ingress: number('Bits received per second'),
      network_bps_egress: number('Bits sent per second'),
      network_pps_ingress: number('Packets received per second'),
      network_pps_egress: number('Packets sent per second'),
    }),
    { description: 'Oldest first' },
  ),
});
type InterfaceMetrics = Static<typeof InterfaceMetrics>;
export const RouterMetricsList = listOf(InterfaceMetrics, 'RouterMetricsList');

/**
 * Returns the traffic of the gateway since the router exists, and of each interface since it is attached. Nobody sends
 * traffic through simulated infrastructure, so all are idle.
 */
export function idleInterfaces(router: RouterRow, question: MetricsQuestion, now: Date): InterfaceMetrics[] {
  const idleSince = (since: Date) =>
    idleTimes(question, since, now).map((time) => ({
      time,
      network_bps_ingress: 0,
      network_bps_egress: 0,
      network_pps_ingress: 0,
      network_pps_egress: 0,
    }));
  const inside = router.interfaces.map((one) => ({
    interface_type: 'private' as const,
    port_id: one.port_id,
    network_id: one.network_id,
    ip_addresses: [one.address],
    metrics: idleSince(new Date(one.attached_at)),
  }));
  if (router.gateway_network_id === null) return inside;
  const gateway = {
    interface_type: 'public' as const,
    port_id: router.id,
    network_id: router.gateway_network_id,
    ip_addresses: router.outside.map(({ address }) => address),
    metrics: idleSince(router.created_at),
  };
  return [gateway, ...inside];
}
