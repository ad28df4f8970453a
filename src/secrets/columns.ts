export interface ColumnShape {
  table: string;
  column: string;
  /** Its primary key, or what else tells its rows apart for good, with the types. */
  keys: Readonly<Record<string, 'bigint' | 'text' | 'uuid'>>;
  /** Whether the column holds JSON; an encrypted value is a text in it. */
  json: boolean;
  /** What becomes of a row whose secret nobody can read any more: it goes, or it gets a new one. */
  lost: 'row' | 'value';
}

/** Every column with secrets. */
export const SECRET_COLUMNS = {
  'signing_keys.jwk': {
    table: 'signing_keys',
    column: 'jwk',
    keys: { id: 'uuid' },
    json: true,
    lost: 'row',
  },
  'kubernetes_credentials.ca_key': {
    table: 'kubernetes_credentials',
    column: 'ca_key',
    keys: { cluster_id: 'uuid' },
    json: false,
    lost: 'row',
  },
  'kubernetes_credentials.client_key': {
    table: 'kubernetes_credentials',
    column: 'client_key',
    keys: { cluster_id: 'uuid' },
    json: false,
    lost: 'row',
  },
  'simulated_objects.made': {
    table: 'simulated_objects',
    column: 'made',
    keys: { kind: 'text', id: 'uuid' },
    json: true,
    lost: 'value',
  },
  'want_secrets.value': {
    table: 'want_secrets',
    column: 'value',
    keys: { kind: 'text', want_id: 'uuid', name: 'text' },
    json: false,
    lost: 'row',
  },
  'user_action_subscriptions.auth_header_value': {
    table: 'user_action_subscriptions',
    column: 'auth_header_value',
    keys: { client_id: 'bigint' },
    json: false,
    lost: 'row',
  },
} as const satisfies Record<string, ColumnShape>;

export type SecretColumn = keyof typeof SECRET_COLUMNS;
