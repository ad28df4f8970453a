import { type Static, Type } from 'typebox';
import { oneOf, orNull } from '../../../lib/schema-kit.ts';
import {
  AutoscalerConfig,
  CNI_PROVIDERS,
  LB_MODES,
  RetentionPolicy,
  ROUTING_MODES,
  SIGNING_ALGORITHMS,
  TUNNELS,
} from './schema.ts';

const nullableText = (description: string) => orNull(Type.String({ description }));
const nullableInteger = (description: string) => orNull(Type.Integer({ description }));

export const Slurm = Type.Object(
  {
    enabled: Type.Boolean({ description: 'Whether Slurm is on. The other fields are null while it is off.' }),
    file_share_id: orNull(
      Type.String({ format: 'uuid', description: 'VAST file share that Slurm works on' }),
    ),
    ssh_key_ids: orNull(
      Type.Array(Type.String({ format: 'uuid' }), { description: 'SSH keys of the login nodes' }),
    ),
    worker_count: nullableInteger('Slurm worker nodes'),
  },
  { title: 'KubernetesSlurmAddon' },
);

export const AddOns = Type.Object({ slurm: Slurm }, { title: 'KubernetesAddons' });

export const Oidc = Type.Object(
  {
    client_id: nullableText('Client ID that every token must be issued for'),
    groups_claim: nullableText("Claim that holds the user's groups"),
    groups_prefix: nullableText('Put before each group'),
    issuer_url: nullableText('Address of the OpenID provider'),
    required_claims: orNull(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Claims that a token must carry with exactly these values',
      }),
    ),
    signing_algs: orNull(
      Type.Array(oneOf(SIGNING_ALGORITHMS, {}), {
        description: 'Accepted signing algorithms; RS256 alone when null',
      }),
    ),
    username_claim: nullableText('Claim that names the user; `sub` when null'),
    username_prefix: nullableText('Put before the user name'),
  },
  { title: 'KubernetesOidc' },
);

export const Authentication = Type.Object(
  {
    oidc: orNull(Oidc),
    kubeconfig_created_at: orNull(
      Type.String({ format: 'date-time', description: 'When the kubeconfig was made' }),
    ),
    kubeconfig_expires_at: orNull(
      Type.String({ format: 'date-time', description: 'When the kubeconfig expires' }),
    ),
  },
  { title: 'KubernetesAuthentication' },
);

export const Cilium = Type.Object(
  {
    cni_exclusive: Type.Boolean(),
    encryption: Type.Boolean({ description: 'WireGuard encryption between nodes' }),
    hubble_relay: Type.Boolean(),
    hubble_ui: Type.Boolean(),
    lb_acceleration: Type.Boolean({ description: 'Load balancing in XDP' }),
    lb_mode: oneOf(LB_MODES, {}),
    mask_size: Type.Integer({ description: 'Prefix length of the IPv4 range of each node' }),
    mask_size_v6: Type.Integer({ description: 'Prefix length of the IPv6 range of each node' }),
    routing_mode: oneOf(ROUTING_MODES, {}),
    tunnel: oneOf(TUNNELS, { description: 'Tunnel protocol; the empty text is native routing' }),
  },
  { title: 'KubernetesCilium' },
);

export const Cni = Type.Object(
  { provider: oneOf(CNI_PROVIDERS, {}), cilium: orNull(Cilium) },
  { title: 'KubernetesCni' },
);

export const DdosProfile = Type.Object(
  {
    enabled: Type.Boolean(),
    fields: orNull(
      Type.Array(
        Type.Object(
          {
            base_field: Type.Integer({ description: 'ID of a field of the template' }),
            field_value: Type.Unknown({ description: 'Any JSON value' }),
          },
          { title: 'KubernetesDdosField' },
        ),
      ),
    ),
    profile_template: nullableInteger('ID of the template, if the client gave it'),
    profile_template_name: nullableText('Name of the template, if the client gave it'),
  },
  { title: 'KubernetesDdosProfile' },
);

export const Logging = Type.Object(
  {
    enabled: Type.Boolean(),
    destination_region_id: nullableInteger('Region that keeps the logs'),
    topic_name: nullableText('Topic that the logs go to'),
    retention_policy: orNull(RetentionPolicy),
  },
  { title: 'KubernetesLogging' },
);

/** The six groups of settings in a cluster's answer, to be spread into it. */
export const configurationAnswer = {
  add_ons: AddOns,
  authentication: orNull(Authentication),
  autoscaler_config: orNull(AutoscalerConfig),
  cni: orNull(Cni),
  ddos_profile: orNull(DdosProfile),
  logging: orNull(Logging),
};

export type Authentication = Static<typeof Authentication>;
