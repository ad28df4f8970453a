export interface DeletionRequestTables {
  /** Accounts that want to be deleted by their resellers. */
  deletion_requests: {
    client_id: number;
    user_id: number;
    reason: string;
    created_at: Date;
  };
}
