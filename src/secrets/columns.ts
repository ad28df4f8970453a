export interface ColumnShape {
  table: string;
  column: string;
  /** The primary key, or other columns that permanently identify a row, with their types. */
  keys: Readonly<Record<string, 'bigint' | 'text' | 'uuid'>>;
  /** Whether the column contains JSON; an encrypted value is a JSON string. */
  json: boolean;
  /** What happens to a row whose secret nobody can decrypt any more: it is deleted, or it gets a new value. */
  lost: 'row' | 'value';
}

const SHAPES = {
  'signing_keys.jwk': { keys: { id: 'uuid' }, json: true, lost: 'row' },
  'kubernetes_credentials.ca_key': { keys: { cluster_id: 'uuid' }, json: false, lost: 'row' },
  'kubernetes_credentials.client_key': { keys: { cluster_id: 'uuid' }, json: false, lost: 'row' },
  'simulated_objects.made': { keys: { kind: 'text', id: 'uuid' }, json: true, lost: 'value' },
  'want_secrets.value': { keys: { kind: 'text', want_id: 'uuid', name: 'text' }, json: false, lost: 'row' },
  'user_action_subscriptions.auth_header_value': { keys: { client_id: 'bigint' }, json: false, lost: 'row' },
  'mails.data': { keys: { id: 'uuid' }, json: true, lost: 'row' },
  'webhooks.secret': { keys: { id: 'uuid' }, json: false, lost: 'value' },
  'webhooks.previous_secret': { keys: { id: 'uuid' }, json: false, lost: 'value' },
  'identity_providers.oidc_client_secret': { keys: { id: 'uuid' }, json: false, lost: 'value' },
  // A factor that nobody can read any more still keeps strangers out.
  'second_factors.secret': { keys: { id: 'uuid' }, json: false, lost: 'value' },
} as const satisfies Record<string, Omit<ColumnShape, 'table' | 'column'>>;

export type SecretColumn = keyof typeof SHAPES;

export const SECRET_COLUMNS = Object.keys(SHAPES) as SecretColumn[];

export function shapeOf(name: SecretColumn): ColumnShape {
  const [table = '', column = ''] = name.split('.');
  return { table, column, ...SHAPES[name] };
}
