import type { Generated, JSONColumnType } from 'kysely';

export type ImageStatus = 'saving' | 'active' | 'pending_delete';

export interface ImageTables {
  /** Images of projects. The platform's own images are in the catalogue. */
  images: {
    id: string;
    project_id: number;
    region_id: number;
    name: string;
    /** Named as in Glance. */
    status: ImageStatus;
    os_type: 'linux' | 'windows';
    /** Null when unknown. */
    os_distro: string | null;
    os_version: string | null;
    architecture: 'aarch64' | 'x86_64';
    min_disk_gib: number;
    /** Null until the image is ready, and when the infrastructure doesn't say it. */
    size_bytes: number | null;
    is_baremetal: boolean;
    /** Volumes share its data, so they have to go before it. */
    cow_format: Generated<boolean>;
    ssh_key: 'allow' | 'deny' | 'required';
    hw_firmware_type: 'bios' | 'uefi';
    hw_machine_type: 'i440' | 'q35';
    tags: JSONColumnType<Record<string, string>>;
    creator_task_id: string;
    /** The task that holds the image. */
    task_id: string | null;
    created_at: Date;
    updated_at: Date;
  };
}
