import type { ColumnType, GeneratedAlways, JSONColumnType } from 'kysely';

export interface RouterTables {
  routers: {
    id: string;
    project_id: number;
    region_id: number;
    name: string;
    routes: JSONColumnType<StaticRoute[]>;
    /** The external network that it leads to; null if it leads nowhere. */
    gateway_network_id: string | null;
    enable_snat: boolean;
    /** The network with which it was made. New subnets of that network are connected to it. */
    network_id: string | null;
    creator_task_id: string;
    task_id: string | null;
    created_at: Date;
    updated_at: Date;
  };
  router_interfaces: {
    port_id: string;
    router_id: string;
    subnet_id: string;
    address: ColumnType<string, string, never>;
    mac_address: GeneratedAlways<string>;
    created_at: Date;
  };
}

export interface StaticRoute {
  destination: string;
  nexthop: string;
}
