import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely';

export interface PortTables {
  ports: {
    id: string;
    network_id: string;
    project_id: number;
    region_id: number;
    instance_id: string | null;
    /** The load balancer whose virtual address it has. */
    load_balancer_id: Generated<string | null>;
    name: string;
    interface_name: string | null;
    /** Position among the instance's interfaces. */
    position: number;
    mac_address: GeneratedAlways<string>;
    port_security_enabled: boolean;
    /** Further addresses and networks from which the port may send. */
    allowed_address_pairs: ColumnType<AddressPair[], string | undefined, string>;
    /** Whether the port is kept for its address, attached or not. */
    reserved: Generated<boolean>;
    /** Whether several ports share its address, so that no instance can have the port itself. */
    is_vip: Generated<boolean>;
    /** The task that reserved it. */
    creator_task_id: Generated<string | null>;
    /** The task that holds the port. */
    task_id: Generated<string | null>;
    tags: JSONColumnType<Record<string, string>>;
    created_at: Date;
    updated_at: Date;
  };
  port_security_groups: { port_id: string; security_group_id: string };
}

/** An address from which a port may send besides its own. By default, its packets have the port's hardware address. */
export interface AddressPair {
  ip_address: string;
  mac_address?: string;
}
