export interface SshKeyTables {
  ssh_keys: {
    id: string;
    project_id: number;
    /** The user who added the key. Only this user sees it unless it is shared. */
    user_id: number;
    name: string;
    public_key: string;
    fingerprint: string;
    shared_in_project: boolean;
    created_at: Date;
  };
}
