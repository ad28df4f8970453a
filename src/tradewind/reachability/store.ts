import { sql } from 'kysely';
import type { Sql } from '../../db/database.ts';
import type { LettingRule } from './schema.ts';

/** A port as security groups and networks see it. */
export interface PortEnd {
  id: string;
  client_id: number;
  network_id: string;
  port_security_enabled: boolean;
  addresses: string[];
  group_ids: string[];
}

/** Interfaces of routers are ports without groups. */
export async function findPorts(db: Sql, ids: readonly string[]): Promise<PortEnd[]> {
  const { rows } = await sql<PortEnd>`
    select ends.id, projects.client_id, network_id, port_security_enabled,
      array(select host(address) from ip_assignments where port_id = ends.id order by address) || own as addresses,
      array(select security_group_id::text from port_security_groups where port_id = ends.id) as group_ids
    from (
      select id, project_id, network_id, port_security_enabled, '{}'::text[] as own
      from ports where id = any(${ids}::uuid[])
      union all
      select port_id, routers.project_id, subnets.network_id, false, array[host(address)]
      from router_interfaces
        join routers on routers.id = router_id
        join subnets on subnets.id = subnet_id
      where port_id = any(${ids}::uuid[])
    ) as ends join projects on projects.id = project_id`.execute(db);
  return rows;
}

/** Returns the rules of these groups in a fixed order. */
export async function rulesOf(db: Sql, groupIds: readonly string[]): Promise<LettingRule[]> {
  const { rows } = await sql<LettingRule>`
    select id, security_group_id, direction, ethertype, protocol, port_range_min, port_range_max,
      remote_ip_prefix, remote_group_id
    from security_group_rules where security_group_id = any(${groupIds}::uuid[])
    order by created_at, position, id`.execute(db);
  return rows;
}

/** Whether one router has interfaces in both networks. */
export async function areRouted(db: Sql, one: string, other: string): Promise<boolean> {
  const { rows } = await sql<{ routed: boolean }>`
    select exists (
      select from router_interfaces as near
        join subnets as near_subnet on near_subnet.id = near.subnet_id
        join router_interfaces as far on far.router_id = near.router_id
        join subnets as far_subnet on far_subnet.id = far.subnet_id
      where near_subnet.network_id = ${one} and far_subnet.network_id = ${other}
    ) as routed`.execute(db);
  return rows[0]?.routed ?? false;
}
