import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely';

export interface PortTables {
  ports: {
    id: string;
    network_id: string;
    project_id: number;
    region_id: number;
    instance_id: string | null;
    name: string;
    interface_name: string | null;
    /** The order of an instance's interfaces. */
    position: number;
    mac_address: GeneratedAlways<string>;
    port_security_enabled: boolean;
    /** Further addresses and networks that it may send from. */
    allowed_address_pairs: ColumnType<AddressPair[], string | undefined, string>;
    /** Kept for its address, whether or not an instance has it. */
    reserved: Generated<boolean>;
    /** Reserved for several ports to share, so that no instance has it. */
    is_vip: Generated<boolean>;
    /** The task that made it, where it is reserved. */
    creator_task_id: Generated<string | null>;
    /** The task that changes it. */
    task_id: Generated<string | null>;
    tags: JSONColumnType<Record<string, string>>;
    created_at: Date;
    updated_at: Date;
  };
}

/** What a port may send from besides its own address. Without a hardware address it is sent from the port's own. */
export interface AddressPair {
  ip_address: string;
  mac_address?: string;
}
