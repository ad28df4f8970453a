import type { JSONColumnType } from 'kysely';

export type FileShareType = 'standard' | 'vast';
export type FileShareStatus = 'available' | 'creating' | 'deleting' | 'extending';
/** Rules for names in a VAST share: as every client can read them (LCD), or as the protocol allows (NPL). */
export type FileShareNaming = 'LCD' | 'NPL';

export interface VastSettings {
  rootSquash: boolean;
  pathLength: FileShareNaming | null;
  allowedCharacters: FileShareNaming | null;
}

export interface FileShareTables {
  file_shares: {
    id: string;
    project_id: number;
    region_id: number;
    name: string;
    type_name: FileShareType;
    protocol: 'NFS';
    size_gib: number;
    status: FileShareStatus;
    /** Network and subnet of a standard share; null for VAST. */
    network_id: string | null;
    network_name: string | null;
    subnet_id: string | null;
    subnet_name: string | null;
    /** Settings of VAST shares; null for other shares. */
    root_squash: boolean | null;
    path_length: FileShareNaming | null;
    allowed_characters: FileShareNaming | null;
    connection_point: string | null;
    tags: JSONColumnType<Record<string, string>>;
    creator_task_id: string;
    task_id: string | null;
    created_at: Date;
  };
  /** Access rules of standard shares. */
  file_share_access_rules: {
    id: string;
    file_share_id: string;
    access_to: string;
    access_level: 'ro' | 'rw';
    created_at: Date;
  };
}
