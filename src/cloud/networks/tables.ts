import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely';

export interface NetworkTables {
  networks: {
    id: string;
    /** Null: the platform's own, which every project of the region sees. */
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
    tags: JSONColumnType<Record<string, string>>;
    /** False while it is being made or removed. */
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
    /** The addresses that ports may get are those from here to `last_address`. */
    first_address: string;
    last_address: string;
    /** No address below this one is free. */
    free_from: string;
    used_ips: Generated<number>;
    /** As text: of IPv6 it is more than a number can say. */
    total_ips: GeneratedAlways<string>;
    tags: JSONColumnType<Record<string, string>>;
    /** False while it is being made or removed; it gives no addresses then. */
    ready: Generated<boolean>;
    creator_task_id: string | null;
    task_id: string | null;
    created_at: Date;
    updated_at: Date;
  };
  ip_assignments: {
    subnet_id: string;
    address: ColumnType<string, string, never>;
    /** Null: a floating IP has it, or it is kept for the gateway. */
    port_id: string | null;
    floating_ip_id: Generated<string | null>;
  };
}
