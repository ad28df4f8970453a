import { type RawBuilder, sql } from 'kysely';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError } from '../../../lib/errors.ts';

/* How the addresses of a subnet reach the outside: through a router, or where the platform routes by itself. */

/**
 * Returns SQL for the router through which an address of a port reaches the outside; null if there is none. The one
 * with the gateway's address comes first, as in Neutron.
 */
export function wayOutOf(portId: string, address: string): RawBuilder<string | null> {
  return sql`(
    select interfaces.router_id from ip_assignments as assigned
    join subnets on subnets.id = assigned.subnet_id
    join router_interfaces as interfaces on interfaces.subnet_id = subnets.id
    join routers on routers.id = interfaces.router_id
    where assigned.port_id = ${sql.ref(portId)} and assigned.address = ${sql.ref(address)}
      and routers.gateway_network_id is not null
      and not exists (select from wants where kind = 'router' and wants.id = routers.id and spec is null)
    order by interfaces.address is not distinct from gateway_ip desc, interfaces.created_at, interfaces.port_id
    limit 1)`;
}

/** Returns why a floating IP can't reach the address of a port; undefined if it can, until the transaction ends. */
export async function noWayOut(
  tx: Transaction,
  portId: string,
  address: string,
): Promise<ConflictError | undefined> {
  const { rows: found } = await sql<{ id: string; name: string; platform_routed: boolean }>`
    select subnets.id, subnets.name, platform_routed from ip_assignments
    join subnets on subnets.id = subnet_id join networks on networks.id = network_id
    where port_id = ${portId} and address = ${address}::inet for key share of subnets`.execute(tx.sql);
  const [subnet] = found;
  if (!subnet) return undefined;
  const { rows } = await sql<{ id: string; name: string; task_id: string | null; leads: boolean }>`
    select routers.id, routers.name, task_id, gateway_network_id is not null as leads
    from router_interfaces join routers on routers.id = router_id where subnet_id = ${subnet.id}
    order by routers.id for share of router_interfaces, routers`.execute(tx.sql);
  if (rows.length === 0 && subnet.platform_routed) return undefined;
  const leading = rows.filter(({ leads }) => leads);
  if (leading.some(({ task_id }) => task_id === null)) return undefined;
  const [held] = leading;
  return new ConflictError(
    held
      ? `Router ${held.name} is held by task ${held.task_id}; wait until it ends`
      : `No router leads out of subnet ${subnet.name} (${subnet.id}), so its addresses can't have floating IPs; attach it to a router with an external gateway first`,
  );
}

/** @throws ConflictError when no router leads out of the subnet of the port's address */
export async function refuseNoWayOut(tx: Transaction, portId: string, address: string): Promise<void> {
  const reason = await noWayOut(tx, portId, address);
  if (reason) throw reason;
}
