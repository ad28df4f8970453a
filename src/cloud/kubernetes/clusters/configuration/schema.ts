import { type Static, Type } from 'typebox';
import { EMPTY_AS_ABSENT } from '../../../../lib/legacy.ts';
import { UuidInput } from '../../../../lib/resource-fields.ts';
import { closed, Named, OptionalFlag, OptionalInteger, oneOf, orNull, textMap } from '../../../../lib/wire.ts';
import { RetentionPolicy, TopicName } from '../../../ground/logging/schema.ts';

/** The expanders in the specification. Upstream has others, which are not offered. */
export const EXPANDERS = ['random', 'most-pods', 'least-waste', 'price', 'priority', 'grpc'] as const;

/**
 * Returns what is wrong with an expander list, or undefined. The autoscaler splits at commas without trimming, takes
 * each name once, and refuses names after `random`, which leaves nothing to choose from (cluster-autoscaler
 * expander_factory.go).
 */
export function expanderFault(text: string): string | undefined {
  if (/\s/.test(text)) return 'Must not contain white space. Write the list as least-waste,random.';
  const names = text.split(',');
  if (names.includes('')) {
    return 'Must not contain an empty name. Separate names by a single comma, with none at the start or end.';
  }
  const known: readonly string[] = EXPANDERS;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) return `Unknown expander ${unknown}. Use one of: ${EXPANDERS.join(', ')}.`;
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `Contains ${twice} twice. List each expander once.`;
  if (names.slice(0, -1).includes('random')) {
    return 'If random is used, it must be the last expander: it always picks one option, so expanders after it have no effect.';
  }
  return undefined;
}

const { Optional } = Type;

export const SIGNING_ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
] as const;
export const LB_MODES = ['dsr', 'hybrid', 'snat'] as const;
export const ROUTING_MODES = ['native', 'tunnel'] as const;
export const TUNNELS = ['', 'geneve', 'vxlan'] as const;
export const CNI_PROVIDERS = ['calico', 'cilium'] as const;

/** Limits on what clients may send. The rules and the API document use the same numbers. */
export const LIMITS = {
  sshKeys: 100,
  workers: 10_000,
  claims: 64,
  ddosFields: 100,
  mask: { min: 8, max: 30 },
  maskV6: { min: 48, max: 126 },
} as const;

const INT32_MAX = 2_147_483_647;

/**
 * One object for both forms. A validator can't choose a branch by a boolean and would report the faults of both.
 * Slurm's rules check what each form needs.
 */
export const SlurmInput = Type.Object(
  {
    enabled: Type.Boolean({
      description: 'Enables or disables Slurm. With `false`, leave the other fields out.',
      examples: [true],
    }),
    file_share_id: Optional(
      UuidInput(
        'VAST file share for the controller spool, the worker spool and the jail. Root squash must be off, and path_length and allowed_characters must be `NPL`. Required to enable Slurm, and fixed while it is enabled.',
      ),
    ),
    ssh_key_ids: Optional(
      Type.Array(UuidInput('SSH key ID'), {
        minItems: 1,
        maxItems: LIMITS.sshKeys,
        description: 'SSH keys that may log in to the login nodes. Required to enable Slurm.',
        examples: [['36a7a97a-0672-4911-8099-90cd6b32fbb8']],
      }),
    ),
    worker_count: OptionalInteger({
      minimum: 1,
      maximum: LIMITS.workers,
      description:
        'Number of Slurm worker nodes, each on a GPU node of its own. Can only grow. Required to enable Slurm.',
      examples: [2],
    }),
  },
  { title: 'KubernetesSlurmAddonInput', description: 'Slurm add-on.', additionalProperties: false },
);

export const AddOnsInput = closed(
  { slurm: Optional(SlurmInput) },
  { title: 'KubernetesAddonsInput', description: 'Add-ons of the cluster. Must not be null.' },
);

const text = (maxLength: number, description: string, example: string) =>
  Optional(orNull(Type.String({ minLength: 1, maxLength, description, examples: [example] })));

export const OidcInput = closed(
  {
    client_id: text(1024, 'Client ID that tokens must be issued for. Set it together with `issuer_url`.', 'kubernetes'),
    groups_claim: text(256, "Claim that contains the user's groups.", 'groups'),
    groups_prefix: text(256, 'Prefix added to each group; `oidc:` if null.', 'oidc:'),
    issuer_url: text(
      2048,
      'URL of the OpenID provider, exactly as in the `iss` claim of its tokens. Must be https. Set it together with `client_id`.',
      'https://accounts.example.com',
    ),
    required_claims: Optional(
      orNull(
        textMap(
          { keyLength: 256, valueLength: 1024, entries: LIMITS.claims },
          {
            description: 'Claims that a token must contain with exactly these values.',
            examples: [{ hd: 'example.com' }],
          },
        ),
      ),
    ),
    signing_algs: Optional(
      orNull(
        Type.Array(oneOf(SIGNING_ALGORITHMS, {}), {
          minItems: 1,
          maxItems: SIGNING_ALGORITHMS.length,
          description: 'Accepted signing algorithms. If null, only RS256 is accepted.',
          examples: [['RS256', 'ES256']],
        }),
      ),
    ),
    username_claim: text(256, 'Claim that contains the user name. If null, `sub` is used.', 'email'),
    username_prefix: text(256, 'Prefix added to the user name; `oidc:` if null. `-` disables the prefix.', 'oidc:'),
  },
  {
    title: 'KubernetesOidcInput',
    description: 'OpenID Connect settings. Omitted fields keep their value; null clears a field.',
  },
);

export const AuthenticationInput = closed(
  { oidc: Optional(orNull(OidcInput)) },
  {
    title: 'KubernetesAuthenticationInput',
    description: 'User authentication. `{"oidc": null}` removes OpenID Connect.',
  },
);

export const AutoscalerConfig = textMap(
  { keyLength: 256, valueLength: 256, entries: 64 },
  {
    title: 'KubernetesAutoscalerConfig',
    description: `Overrides for parameters of the cluster autoscaler. Values are always strings. Omitted parameters keep their value; \`{}\` removes all overrides. Expanders: ${EXPANDERS.join(', ')}.`,
    examples: [{ 'scan-interval': '10s', expander: 'least-waste,random' }],
  },
);

const flag = (description: string) => OptionalFlag({ description });

export const CiliumInput = closed(
  {
    cni_exclusive: flag(
      'Whether Cilium takes over the CNI folder of each node; true on a new cluster. With false, other CNI plug-ins can run beside it.',
    ),
    encryption: flag('WireGuard encryption between nodes; false on a new cluster.'),
    hubble_relay: flag('Hubble Relay; false on a new cluster.'),
    hubble_ui: flag('Hubble UI, which requires `hubble_relay`; false on a new cluster.'),
    lb_acceleration: flag('XDP load balancing acceleration; false on a new cluster.'),
    lb_mode: Optional(
      oneOf(LB_MODES, {
        description: "Load balancing mode; `snat` on a new cluster. `dsr` and `hybrid` don't work with VXLAN.",
        examples: ['snat'],
      }),
    ),
    mask_size: OptionalInteger({
      minimum: LIMITS.mask.min,
      maximum: LIMITS.mask.max,
      description: "Prefix length of each node's IPv4 range; defaults to 24. Can't be changed after creation.",
      examples: [24],
    }),
    mask_size_v6: OptionalInteger({
      minimum: LIMITS.maskV6.min,
      maximum: LIMITS.maskV6.max,
      description: "Prefix length of each node's IPv6 range; defaults to 120. Can't be changed after creation.",
      examples: [120],
    }),
    routing_mode: Optional(
      oneOf(ROUTING_MODES, {
        description:
          'Routing mode; `tunnel` on a new cluster. If you send only `tunnel`, the routing mode follows from it.',
        examples: ['tunnel'],
      }),
    ),
    tunnel: Optional(
      oneOf(TUNNELS, {
        description:
          'Tunnel protocol; `geneve` on a new cluster, empty with native routing. If you send only `routing_mode`, the tunnel protocol follows from it.',
        examples: ['geneve'],
      }),
    ),
  },
  {
    title: 'KubernetesCiliumInput',
    description: 'Cilium settings, only with provider `cilium`. Omitted settings keep their value.',
  },
);

export const CniInput = closed(
  {
    provider: Optional(
      oneOf(CNI_PROVIDERS, {
        description: "CNI provider; defaults to `calico` on a new cluster. Can't be changed after creation.",
        examples: ['cilium'],
      }),
    ),
    cilium: Optional(orNull(CiliumInput)),
  },
  {
    title: 'KubernetesCniInput',
    description: 'Network plug-in. `cilium: null` restores the platform defaults, except for node masks.',
  },
);

export const DdosFieldInput = Type.Object(
  {
    base_field: Type.Integer({
      minimum: 0,
      maximum: INT32_MAX,
      description: 'ID of a field of the template.',
      examples: [10],
    }),
    field_value: Optional(
      Type.Unknown({
        description:
          'Any JSON value that satisfies the validation schema of the template field. Null uses its default.',
        examples: [[45046, 45047]],
      }),
    ),
  },
  {
    title: 'KubernetesDdosFieldInput',
    description: 'Value of one template field.',
    additionalProperties: false,
  },
);

export const DdosProfileInput = Type.Object(
  {
    enabled: Type.Boolean({ description: 'Enables or disables Advanced DDoS Protection.', examples: [true] }),
    fields: Optional(
      Type.Array(DdosFieldInput, {
        maxItems: LIMITS.ddosFields,
        description: 'Values of template fields.',
      }),
    ),
    profile_template: Optional(
      orNull(
        Type.Integer({
          // The older Terraform provider sends 0 if only the name is given.
          ...EMPTY_AS_ABSENT,
          minimum: 1,
          maximum: INT32_MAX,
          description: 'ID of a DDoS profile template of the region.',
          examples: [29],
        }),
      ),
    ),
    profile_template_name: Optional(
      orNull(
        Type.String({
          ...EMPTY_AS_ABSENT,
          minLength: 1,
          maxLength: 100,
          description: 'Name of the template, as an alternative to its ID.',
          examples: ['universal_v6'],
        }),
      ),
    ),
  },
  {
    title: 'KubernetesDdosProfileInput',
    description:
      'Advanced DDoS Protection. `{"enabled": false}` disables it and removes its settings. While it stays enabled, omitted settings keep their value; with another template, the fields start empty.',
    additionalProperties: false,
  },
);

export const LoggingInput = closed(
  {
    enabled: OptionalFlag({
      description:
        'Forwards logs of the cluster; false on a new cluster. With false, forwarding stops, but the topic and its data stay.',
      examples: [true],
    }),
    destination_region_id: Optional(
      orNull(
        Type.Integer({
          minimum: 0,
          maximum: INT32_MAX,
          description: 'Region that stores the logs, one of the destination regions. Required to enable logging.',
          examples: [1],
        }),
      ),
    ),
    topic_name: Optional(
      orNull(TopicName('Topic for the logs. If logging is enabled without a topic, it is named after the cluster.')),
    ),
    retention_policy: Optional(orNull(RetentionPolicy)),
  },
  { title: 'KubernetesLoggingInput', description: 'Log forwarding. Omitted fields keep their value.' },
);

/** The five groups that may be null. Null means the same as absent. */
const nullableGroups = {
  authentication: Optional(orNull(AuthenticationInput)),
  autoscaler_config: Optional(orNull(AutoscalerConfig)),
  cni: Optional(orNull(CniInput)),
  ddos_profile: Optional(orNull(DdosProfileInput)),
  logging: Optional(orNull(LoggingInput)),
};

export const ClusterUpdate = closed(
  { add_ons: Optional(AddOnsInput), ...nullableGroups },
  {
    title: 'KubernetesClusterUpdate',
    description: "Six groups of settings. Groups that are omitted or null don't change; `add_ons` must not be null.",
    examples: [
      {
        add_ons: {
          slurm: {
            enabled: true,
            file_share_id: 'e1a2b3c4-5d6e-4f70-8a91-b2c3d4e5f607',
            ssh_key_ids: ['36a7a97a-0672-4911-8099-90cd6b32fbb8'],
            worker_count: 2,
          },
        },
        authentication: {
          oidc: {
            issuer_url: 'https://accounts.example.com',
            client_id: 'kubernetes',
            username_claim: 'email',
            username_prefix: 'oidc:',
            groups_claim: 'groups',
            groups_prefix: 'oidc:',
            signing_algs: ['RS256', 'ES256'],
            required_claims: { hd: 'example.com' },
          },
        },
        autoscaler_config: { 'scan-interval': '10s', expander: 'least-waste,random' },
        // Of a cluster with Cilium; Calico has no settings.
        cni: { provider: 'cilium', cilium: { encryption: true, hubble_relay: true, hubble_ui: true } },
        ddos_profile: {
          enabled: true,
          profile_template: 29,
          fields: [{ base_field: 10, field_value: [45046, 45047] }],
        },
        logging: {
          enabled: true,
          destination_region_id: 2,
          topic_name: 'my-log-name',
          retention_policy: { period: 45 },
        },
      },
    ],
  },
);

/** The same groups in a creation body, to be spread into it. */
export const creationGroups = { add_ons: Optional(AddOnsInput), ...nullableGroups };

export type ClusterUpdate = Static<typeof ClusterUpdate>;
export type SlurmInput = Static<typeof SlurmInput>;
export type OidcInput = Static<typeof OidcInput>;
export type CiliumInput = Static<typeof CiliumInput>;
export type CniInput = Static<typeof CniInput>;
export type DdosProfileInput = Static<typeof DdosProfileInput>;
export type LoggingInput = Static<typeof LoggingInput>;

const nullableText = (description: string) => orNull(Type.String({ description }));
const nullableInteger = (description: string) => orNull(Type.Integer({ description }));

export const Slurm = Named('KubernetesSlurmAddon', {
  enabled: Type.Boolean({
    description: "Whether Slurm is enabled. The other fields are null if it isn't.",
  }),
  file_share_id: orNull(Type.String({ format: 'uuid', description: 'VAST file share used by Slurm' })),
  ssh_key_ids: orNull(Type.Array(Type.String({ format: 'uuid' }), { description: 'SSH keys on the login nodes' })),
  worker_count: nullableInteger('Number of Slurm worker nodes'),
});

export const AddOns = Named('KubernetesAddons', { slurm: Slurm });

export const Oidc = Named('KubernetesOidc', {
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
});

export const Authentication = Named('KubernetesAuthentication', {
  oidc: orNull(Oidc),
  kubeconfig_created_at: orNull(Type.String({ format: 'date-time', description: 'When the kubeconfig was created' })),
  kubeconfig_expires_at: orNull(Type.String({ format: 'date-time', description: 'When the kubeconfig expires' })),
});

export const Cilium = Named('KubernetesCilium', {
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
});

export const Cni = Named('KubernetesCni', { provider: oneOf(CNI_PROVIDERS, {}), cilium: orNull(Cilium) });

export const DdosProfile = Named('KubernetesDdosProfile', {
  enabled: Type.Boolean(),
  fields: orNull(
    Type.Array(
      Named('KubernetesDdosField', {
        base_field: Type.Integer({ description: 'ID of the template field' }),
        field_value: Type.Unknown({ description: 'Any JSON value' }),
      }),
    ),
  ),
  profile_template: nullableInteger('Template ID, if the client set it'),
  profile_template_name: nullableText('Template name, if the client set it'),
});

export const Logging = Named('KubernetesLogging', {
  enabled: Type.Boolean(),
  destination_region_id: nullableInteger('Region that stores the logs'),
  topic_name: nullableText('Topic that receives the logs'),
  retention_policy: orNull(RetentionPolicy),
});

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
