export interface SshKeyTables {
  ssh_keys: {
    id: string;
    project_id: number;
    /** Who added it: one that isn't shared is this user's alone. */
    user_id: number;
    name: string;
    public_key: string;
    fingerprint: string;
    shared_in_project: boolean;
    created_at: Date;
  };
}
