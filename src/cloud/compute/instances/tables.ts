import type { ColumnType, JSONColumnType } from 'kysely';
import type { InstanceStatus, VmState } from '../../ground/hosts/states.ts';

/** What an instance keeps of its flavor: the values from when it got the flavor. */
export interface KeptFlavor {
  flavor_id: string;
  vcpus: number;
  ram: number;
  architecture: 'aarch64' | 'x86_64';
  os_type: 'linux' | 'windows';
  hardware_description: Record<string, string>;
  resource_class: string | null;
}

export interface InstanceTables {
  instances: {
    id: string;
    project_id: number;
    region_id: number;
    name: string;
    status: InstanceStatus;
    vm_state: VmState;
    task_state: string | null;
    description: string | null;
    flavor_id: string;
    flavor: JSONColumnType<KeptFlavor>;
    ssh_key_name: string | null;
    tags: JSONColumnType<Record<string, string>>;
    /** The pool if the instance is a node; null if a client created it. */
    pool_id: ColumnType<string | null, string | null | undefined, never>;
    creator_task_id: string;
    /** The task that holds the instance. */
    task_id: string | null;
    created_at: Date;
    updated_at: Date;
  };
}
