import fs from 'node:fs';
import { type Static, Type } from 'typebox';
import { attempt, SettingError } from '../src/lib/errors.ts';
import { readSecretFile } from '../src/lib/secret-file.ts';

const { Optional } = Type;
const text = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description });
const closed = { additionalProperties: false };

const Platform = Type.Object(
  {
    images: Optional(
      Type.Record(Type.String({ minLength: 1 }), text('An image'), {
        description: 'Images instead of the usual ones, by the names in rendering/images.ts',
      }),
    ),
    grpc_expander_url: Optional(text("Where the autoscaler's `grpc` expander is")),
    oidc_ca_file: Optional(
      Type.String({
        pattern: '^/',
        description: 'Authorities of OIDC providers (PEM) instead of those the machine trusts',
      }),
    ),
    log_forwarding: Optional(
      Type.Object(
        {
          brokers: Type.Record(Type.String({ pattern: '^[0-9]+$' }), Type.Array(text('host:port')), {
            description: 'Kafka brokers of the log service, by destination region',
          }),
          namespace: Optional(text('Goes before the names of topics, with a dot')),
          username: text('Who writes to the topics'),
          password_file: text('File with the password'),
        },
        closed,
      ),
    ),
    slurm: Optional(
      Type.Object(
        {
          gpus_per_worker: Type.Integer({
            minimum: 1,
            maximum: 64,
            description: 'GPUs of a node of GPU pools',
          }),
          server: text('NFS server of the VAST file shares'),
          path: text('Exported path of a share; `{id}` stands for its ID'),
        },
        closed,
      ),
    ),
    default_storage_class: Optional(
      Type.Object(
        {
          name: text('Name of the class'),
          provisioner: text('CSI driver'),
          parameters: Optional(Type.Record(Type.String(), Type.String())),
        },
        closed,
      ),
    ),
  },
  closed,
);

/**
 * What surrounds the clusters of a backend: settings in the catalogue, to be spread into those of each backend that
 * makes Kubernetes clusters.
 */
export const platformSettings = Platform.properties;
type Settings = Static<typeof Platform>;

/** The settings with what a backend adds to them, and the password from its file. */
export interface Platform extends Omit<Settings, 'log_forwarding' | 'oidc_ca_file'> {
  /** `text` is what the file contains. */
  oidc_ca?: { file: string; text: string };
  log_forwarding?: Omit<NonNullable<Settings['log_forwarding']>, 'password_file'> & { password: string };
  /** How the autoscaler reaches the nodes, such as `--cloud-provider=clusterapi`. */
  autoscalerArguments: readonly string[];
}

/** @throws SettingError if a file can't be used */
export function platformOf(
  { log_forwarding: forwarding, oidc_ca_file: oidcCa, ...settings }: Settings,
  autoscalerArguments: readonly string[],
): Platform {
  return {
    ...settings,
    autoscalerArguments,
    ...(oidcCa !== undefined && { oidc_ca: { file: oidcCa, text: readAuthorities(oidcCa) } }),
    ...(forwarding && { log_forwarding: withPassword(forwarding) }),
  };
}

function withPassword({ password_file: file, ...rest }: NonNullable<Settings['log_forwarding']>) {
  const read = readSecretFile(file);
  if ('text' in read) return { ...rest, password: read.text };
  throw new SettingError(`backends.yaml: log_forwarding.password_file: ${file} ${read.problem}`);
}

function readAuthorities(file: string): string {
  const text = attempt(() => fs.readFileSync(file, 'utf8'));
  if (text?.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new SettingError(`backends.yaml: oidc_ca_file: ${file} has no certificates that can be read`);
}
