import type { ColumnType } from 'kysely';

export const SECRET_TYPES = [
  'certificate',
  'opaque',
  'passphrase',
  'private',
  'public',
  'symmetric',
] as const;
type SecretType = (typeof SECRET_TYPES)[number];

/** What can be done with a secret: serve TLS with it, check certificates with it, or neither. */
export type Holding = 'tls' | 'certificates' | 'bytes';

type Fixed<T> = ColumnType<T, T, never>;

export interface StoredSecretTables {
  /** What clients keep for their load balancers. The contents are in `want_secrets`. */
  secrets: {
    id: string;
    project_id: number;
    region_id: number;
    name: Fixed<string>;
    secret_type: Fixed<SecretType>;
    holds: Fixed<Holding>;
    content_type: Fixed<string>;
    algorithm: Fixed<string | null>;
    bit_length: Fixed<number | null>;
    mode: Fixed<string | null>;
    expires_at: Fixed<Date | null>;
    creator_task_id: string;
    /** The task that creates or deletes the secret. */
    task_id: string | null;
    created_at: Date;
    updated_at: Date;
  };
  /** Who uses a secret. It can't be deleted as long as somebody does. */
  secret_uses: { secret_id: string; user_kind: 'listener' | 'pool'; user_id: string };
}
