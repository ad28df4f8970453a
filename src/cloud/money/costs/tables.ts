import type { Generated, JSONColumnType } from 'kysely';

/** Types of what costs something, as the published reports name them. */
export const USED_TYPES = [
  'baremetal',
  'external_ip',
  'file_share',
  'floatingip',
  'image',
  'instance',
  'load_balancer',
  'log_index',
  'snapshot',
  'volume',
] as const;
export type UsedType = (typeof USED_TYPES)[number];

/** What the reports show of a resource besides its name and tags, by its type. */
export interface UsedDetails {
  ip_address?: string;
  port_id?: string;
  subnet_id?: string;
  network_id?: string;
  attached_to_vm?: string | null;
  source_volume_uuid?: string;
  /** In bytes; null if unknown. */
  size?: number | null;
}

export interface CostTables {
  /** Written by triggers (`meter`) of the tables of resources. A period that has ended never changes. */
  usage_periods: {
    id: Generated<number>;
    client_id: number;
    project_id: number;
    region_id: number;
    type: UsedType;
    resource_id: string;
    /** What kind of its type it is: a flavor, a type of volumes. Empty where there is one kind only. */
    sku: string;
    /** In GiB for what has a size, else 1. */
    amount: number;
    name: string | null;
    tags: JSONColumnType<Record<string, string>> | null;
    details: JSONColumnType<UsedDetails> | null;
    /** Full seconds. */
    started_at: Date;
    /** Null while it goes on. */
    ended_at: Date | null;
  };
}
