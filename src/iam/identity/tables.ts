import type { ColumnType } from 'kysely';

export interface IdentityTables {
  signing_keys: { id: string; jwk: ColumnType<object | string, string, never>; created_at: Date };
}
