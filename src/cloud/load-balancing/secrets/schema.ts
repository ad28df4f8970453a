import { type Static, Type } from 'typebox';
import * as wire from '../../../lib/wire.ts';

const SECRET_TYPES = ['certificate', 'opaque', 'passphrase', 'private', 'public', 'symmetric'] as const;

/** As in the key manager that the contract was made for (Barbican's `max_allowed_secret_in_bytes`). */
export const MOST_BYTES = 20_000;
const MOST_PEM = 65_536;
const MOST_BASE64 = Math.ceil(MOST_BYTES / 3) * 4;

const SecretType = wire.Choice(
  SECRET_TYPES,
  'What the secret is. Only a `certificate` is checked; the others are kept as they are.',
);

const name = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Name; several secrets may have the same',
  examples: ['Load balancer certificate #1'],
});

const expiration = wire.OptionalTextOrNull({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:?\\d{2})?$',
  rule: 'Must be a date and time such as 2035-12-28T19:14:44Z; without a zone it is in UTC.',
  description: 'When the secret expires; no listener can begin to use it after that. Never by default',
  examples: ['2035-12-28T19:14:44.180394'],
});

const pem = (description: string, label: string, minLength = 1) =>
  Type.String({
    minLength,
    maxLength: MOST_PEM,
    description,
    examples: [`-----BEGIN ${label}-----\nMIIB...\n-----END ${label}-----\n`],
  });

const TlsPayload = wire.Input('TlsBundle', {
  certificate: pem("The server's certificate in PEM format", 'CERTIFICATE'),
  certificate_chain: pem(
    'Certificates of its issuers in PEM format, best the one that issued it first, then the one that issued that one, and so on. May be empty, or end before the root; those that belong to nothing are kept as well',
    'CERTIFICATE',
    0,
  ),
  private_key: pem(
    'Key of the certificate in PEM format, not encrypted: RSA with 2048 to 8192 bits, ECDSA on P-256, P-384 or P-521, or Ed25519',
    'PRIVATE KEY',
  ),
});
export type TlsPayload = Static<typeof TlsPayload>;

export const CreateTlsSecret = wire.Input(
  'CreateTlsSecret',
  { name, payload: TlsPayload, expiration },
  {
    name: 'Load balancer certificate #1',
    payload: {
      certificate: '-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----\n',
      certificate_chain: '-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----\n',
      private_key: '-----BEGIN PRIVATE KEY-----\nMIIB...\n-----END PRIVATE KEY-----\n',
    },
  },
);
export type CreateTlsSecret = Static<typeof CreateTlsSecret>;

const note = (what: string, example: string) =>
  wire.OptionalTextOrNull({ maxLength: 255, description: `${what}, for information only`, examples: [example] });

export const CreateSecret = wire.Input(
  'CreateSecret',
  {
    name,
    secret_type: SecretType,
    payload: Type.String({
      minLength: 4,
      maxLength: MOST_BASE64,
      description:
        'Contents in base64. A `certificate` is one or more certificates in PEM format, one in DER format, or, for listeners, a PKCS #12 file without a passphrase',
      examples: ['aGVsbG8sIHRlc3Qgc3RyaW5nCg=='],
    }),
    payload_content_encoding: wire.Choice(['base64'], 'Encoding of the payload'),
    payload_content_type: wire.Choice(['application/octet-stream', 'application/pkcs8', 'application/pkix-cert'], {
      description: 'Media type of the decoded payload',
    }),
    algorithm: note('Algorithm', 'aes'),
    bit_length: wire.OptionalIntegerOrNull({
      minimum: 1,
      maximum: 1_000_000,
      description: 'For information only',
      examples: [256],
    }),
    mode: note('Mode', 'cbc'),
    expiration,
  },
  {
    name: 'AES key',
    secret_type: 'symmetric',
    payload: 'aGVsbG8sIHRlc3Qgc3RyaW5nCg==',
    payload_content_encoding: 'base64',
    payload_content_type: 'application/octet-stream',
  },
);
export type CreateSecret = Static<typeof CreateSecret>;

export const SecretAnswer = wire.Named('Secret', {
  id: Type.String({ format: 'uuid', description: 'Secret ID' }),
  name: Type.String({ examples: ['AES key'] }),
  secret_type: SecretType,
  status: wire.Choice(['PENDING', 'ACTIVE'], '`PENDING` until the task that creates it has ended'),
  algorithm: wire.nullable(Type.String()),
  bit_length: wire.nullable(Type.Integer()),
  mode: wire.nullable(Type.String()),
  content_types: Type.Record(Type.String(), Type.String(), {
    description: 'Media type of the contents, which are never shown',
    examples: [{ default: 'application/octet-stream' }],
  }),
  created: wire.Timestamp(),
  expiration: wire.nullable(wire.Timestamp()),
});
export type SecretAnswer = Static<typeof SecretAnswer>;
export const SecretList = wire.listOf(SecretAnswer, 'SecretList');

export const SecretListQuery = wire.Query(wire.listQuery());
export type SecretListQuery = Static<typeof SecretListQuery>;

export const SecretParams = wire.PlaceParams({ secret_id: 'Secret ID' });
