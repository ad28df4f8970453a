import { type Static, Type } from 'typebox';
import { SettingError } from '../../lib/operator-error.ts';
import { readSecretFile } from '../../lib/secret-file.ts';

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
export interface Platform extends Omit<Settings, 'log_forwarding'> {
  log_forwarding?: Omit<NonNullable<Settings['log_forwarding']>, 'password_file'> & { password: string };
  /** How the autoscaler reaches the nodes, such as `--cloud-provider=clusterapi`. */
  autoscalerArguments: readonly string[];
}

/** @throws SettingError if the password's file can't be used */
export function platformOf(
  { log_forwarding: forwarding, ...settings }: Settings,
  autoscalerArguments: readonly string[],
): Platform {
  const platform: Platform = { ...settings, autoscalerArguments };
  if (!forwarding) return platform;
  const { password_file: file, ...rest } = forwarding;
  const read = readSecretFile(file);
  if ('problem' in read)
    throw new SettingError(`backends.yaml: log_forwarding.password_file: ${file} ${read.problem}`);
  return { ...platform, log_forwarding: { ...rest, password: read.text } };
}
