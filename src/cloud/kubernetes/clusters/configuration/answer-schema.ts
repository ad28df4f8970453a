import { type Static, Type } from 'typebox';
import { oneOf, orNull } from '../../../../lib/schema-kit.ts';
import { RetentionPolicy } from '../../../ground/logging/schema.ts';
import {
  AutoscalerConfig,
  CNI_PROVIDERS,
  LB_MODES,
  ROUTING_MODES,
  SIGNING_ALGORITHMS,
  TUNNELS,
} from './schema.ts';

const nullableText = (description: string) => orNull(Type.String({ description }));
const nullableInteger = (description: string) => orNull(Type.Integer({ description }));

export const Slurm = Type.Object(
  {
    enabled: Type.Boolean({
      description: "Whether Slurm is enabled. The other fields are null if it isn't.",
    }),
    file_share_id: orNull(Type.String({ format: 'uuid', description: 'VAST file share used by Slurm' })),
    ssh_key_ids: orNull(
      Type.Array(Type.String({ format: 'uuid' }), { description: 'SSH keys on the login nodes' }),
    ),
    worker_count: nullableInteger('Number of Slurm worker nodes'),
  },
  { title: 'KubernetesSlurmAddon' },
);

export const AddOns = Type.Object({ slurm: Slurm }, { title: 'KubernetesAddons' });

export const Oidc = Type.Object(
  {
    client_id: nullableText('Client ID that tokens must be issued for'),
    groups_claim: nullableText("Claim that contains the user's groups"),
    groups_prefix: nullableText('Prefix added to each group'),
    issuer_url: nullableText('URL of the OpenID provider'),
    required_claims: orNull(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Claims that a token must contain with exactly these values',
      }),
    ),
    signing_algs: orNull(
      Type.Array(oneOf(SIGNING_ALGORITHMS, {}), {
        description: 'Accepted signing algorithms; only RS256 if null',
      }),
    ),
    username_claim: nullableText('Claim that contains the user name; `sub` if null'),
    username_prefix: nullableText('Prefix added to the user name'),
  },
  { title: 'KubernetesOidc' },
);

export const Authentication = Type.Object(
  {
    oidc: orNull(Oidc),
    kubeconfig_created_at: orNull(
      Type.String({ format: 'date-time', description: 'When the kubeconfig was created' }),
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
    lb_acceleration: Type.Boolean({ description: 'XDP load balancing acceleration' }),
    lb_mode: oneOf(LB_MODES, {}),
    mask_size: Type.Integer({ description: "Prefix length of each node's IPv4 range" }),
    mask_size_v6: Type.Integer({ description: "Prefix length of each node's IPv6 range" }),
    routing_mode: oneOf(ROUTING_MODES, {}),
    tunnel: oneOf(TUNNELS, { description: 'Tunnel protocol; empty with native routing' }),
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
            base_field: Type.Integer({ description: 'ID of the template field' }),
            field_value: Type.Unknown({ description: 'Any JSON value' }),
          },
          { title: 'KubernetesDdosField' },
        ),
      ),
    ),
    profile_template: nullableInteger('Template ID, if the client set it'),
    profile_template_name: nullableText('Template name, if the client set it'),
  },
  { title: 'KubernetesDdosProfile' },
);

export const Logging = Type.Object(
  {
    enabled: Type.Boolean(),
    destination_region_id: nullableInteger('Region that stores the logs'),
    topic_name: nullableText('Topic that receives the logs'),
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
