export interface RequestTables {
  idempotency_keys: {
    client_id: number;
    user_id: number;
    key: string;
    fingerprint: Buffer;
    request_id: string;
    status: number | null;
    body: string | null;
    expires_at: Date;
  };
}
