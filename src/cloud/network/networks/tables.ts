import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely';

export interface NetworkTables {
  networks: {
    id: string;
    /** Null for the platform's networks, which every project of the region sees. */
    project_id: number | null;
    region_id: number;
    name: string;
    type: 'vlan' | 'vxlan';
    mtu: number;
    external: boolean;
    shared: boolean;
    is_default: boolean;
    port_security_enabled: boolean;
    segmentation_id: number | null;
    /** Whether the platform routes subnets that have no router, so that floating IPs work in them. */
    platform_routed: Generated<boolean>;
    tags: JSONColumnType<Record<string, string>>;
    /** False while it is being created or deleted. */
    ready: Generated<boolean>;
    creator_task_id: string | null;
    task_id: string | null;
    created_at: Date;
    updated_at: Date;
  };
  subnets: {
    id: string;
    network_id: string;
    name: string;
    cidr: string;
    enable_dhcp: boolean;
    gateway_ip: string | null;
    dns_nameservers: JSONColumnType<string[]>;
    host_routes: JSONColumnType<{ destination: string; nexthop: string }[]>;
    /** Ports may get addresses from this one to `last_address`. */
    first_address: string;
    last_address: string;
    /** No address below this one is free. */
    free_from: string;
    /** Not kept for external subnets. */
    used_ips: Generated<number>;
    /** The last address of an external subnet that has been in `free_external_addresses`. */
    offered_to: Generated<string | null>;
    /** Text, as IPv6 has more addresses than a number can express. */
    total_ips: GeneratedAlways<string>;
    tags: JSONColumnType<Record<string, string>>;
    /** False while it is being created or deleted. Then no addresses are taken from it. */
    ready: Generated<boolean>;
    creator_task_id: string | null;
    task_id: string | null;
    created_at: Date;
    updated_at: Date;
  };
  /** What may be taken from external subnets, up to `offered_to`. */
  free_external_addresses: { subnet_id: string; address: string };
  ip_assignments: {
    subnet_id: string;
    address: ColumnType<string, string, never>;
    /** Null if a floating IP or a router has the address, or if it is reserved for the gateway. */
    port_id: string | null;
    floating_ip_id: Generated<string | null>;
    /** The router that has it outside, or in a subnet whose gateway address it doesn't have. */
    router_id: Generated<string | null>;
  };
}
