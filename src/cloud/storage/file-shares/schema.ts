import type { Selectable } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Tables } from '../../../db/tables.ts';
import { InvalidError } from '../../../lib/errors.ts';
import { LEGACY } from '../../../lib/legacy.ts';
import { MetadataMap, newTags } from '../../../lib/legacy-metadata.ts';
import { PlaceFields, TaggedFields, Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import { TagsPatchInput, tagQuery } from '../../../lib/tags.ts';
import * as wire from '../../../lib/wire.ts';
import { exceededQuotasSchema } from '../../ground/quotas/schema.ts';

/** The type of a share under its older name. The library under the older Terraform provider sends only this one. */

export const VOLUME_TYPES = { standard: 'default_share_type', vast: 'vast_share_type' } as const;

export const legacyType = {
  volume_type: wire.OptionalChoice(Object.values(VOLUME_TYPES), {
    ...LEGACY,
    description: 'Equivalent of type_name with other values',
  }),
};

/** Returns the type of a share, whichever of the two fields names it. @throws InvalidError when they differ */
export function typeNamed(request: {
  type_name?: FileShareType;
  volume_type?: (typeof VOLUME_TYPES)[FileShareType];
}): FileShareType | undefined {
  const { type_name: named, volume_type: older } = request;
  if (older === undefined) return named;
  const meant = older === VOLUME_TYPES.vast ? 'vast' : 'standard';
  if (named === undefined || named === meant) return meant;
  throw new InvalidError({ volume_type: [`Conflicts with type_name ${named}; leave it out.`] });
}

/** Our own limits. None are published. */
export const MAX_SHARE_GIB = 1_000_000;
export const MAX_ACCESS_RULES = 100;

const TypeName = wire.Choice(['standard', 'vast'], {
  description:
    "Type of the share. Defaults to `standard`. If the region doesn't offer standard shares and the request has no network, it defaults to `vast`.",
  examples: ['vast'],
});
const Naming = (description: string) =>
  wire.Choice(['LCD', 'NPL'], {
    description: `${description}: supported by every client (LCD), or anything that the protocol allows (NPL).`,
    examples: ['NPL'],
  });
const ShareSize = Type.Integer({ minimum: 1, maximum: MAX_SHARE_GIB, description: 'Size in GiB', examples: [20] });
const RootSquash = Type.Boolean({ description: 'Whether the root user of a client is mapped to nobody' });

export const AccessMode = wire.Choice(['ro', 'rw'], {
  description: '`ro`: read only. `rw`: read and write.',
  examples: ['rw'],
});
/** An address and how it may access a standard share. */
export const accessFields = {
  ip_address: Type.String({
    maxLength: 64,
    description: 'IP address or CIDR',
    examples: ['10.0.0.0/24'],
  }),
  access_mode: AccessMode,
};

export const CreateFileShare = wire.Input(
  'CreateFileShare',
  {
    name: wire.ResourceName('Name'),
    protocol: wire.Choice(['NFS'], { description: 'Only NFS is supported', examples: ['NFS'] }),
    size: ShareSize,
    type_name: Type.Optional(TypeName),
    ...legacyType,
    share_settings: Type.Optional(
      Type.Object(
        {
          allowed_characters: Type.Optional(Naming('Allowed characters in names')),
          path_length: Type.Optional(Naming('Allowed length of paths')),
          root_squash: Type.Optional({ ...RootSquash, default: true }),
        },
        {
          title: 'NewFileShareSettings',
          description: 'Only for `vast` shares. Slurm requires root_squash false and NPL for both other settings.',
          additionalProperties: false,
        },
      ),
    ),
    network: Type.Optional(
      Type.Object(
        {
          network_id: UuidInput('Network of the share'),
          subnet_id: Type.Optional(
            wire.nullable(UuidInput('Subnet of the share; defaults to the first subnet of the network')),
          ),
        },
        {
          title: 'NewFileShareNetwork',
          description: 'Required for `standard` shares, not allowed for others.',
          additionalProperties: false,
        },
      ),
    ),
    access: wire.OptionalList(wire.Input('NewFileShareAccess', accessFields), {
      maxItems: MAX_ACCESS_RULES,
      description: 'Who can access the share. Only for `standard` shares.',
    }),
    ...newTags,
  },
  {
    name: 'slurm spool',
    protocol: 'NFS',
    size: 10,
    type_name: 'vast',
    share_settings: { root_squash: false, path_length: 'NPL', allowed_characters: 'NPL' },
  },
);
export type CreateFileShare = Static<typeof CreateFileShare>;

export const UpdateFileShare = wire.Input(
  'UpdateFileShare',
  {
    name: Type.Optional(wire.ResourceName('Name')),
    share_settings: Type.Optional(
      Type.Object(
        {
          allowed_characters: Type.Optional(Naming('Allowed characters in names')),
          path_length: Type.Optional(Naming('Allowed length of paths')),
          root_squash: Type.Optional(RootSquash),
        },
        {
          title: 'FileShareSettingsChange',
          description: "Only for `vast` shares. Omitted settings don't change.",
          additionalProperties: false,
        },
      ),
    ),
    tags: Type.Optional(TagsPatchInput),
  },
  { name: 'slurm spool 2', share_settings: { root_squash: false }, tags: { env: 'test' } },
);
export type UpdateFileShare = Static<typeof UpdateFileShare>;

export const ExtendFileShare = wire.Input('ExtendFileShare', { size: ShareSize }, { size: 20 });
export type ExtendFileShare = Static<typeof ExtendFileShare>;

const networkFields = {
  network_id: Uuid("Network ID. VAST shares use a network of the platform that projects can't see"),
  network_name: Type.String({ description: 'Network name' }),
  subnet_id: Uuid('Subnet ID'),
  subnet_name: Type.String({ description: 'Subnet name' }),
};

export const CheckShareLimits = wire.Input('CheckFileShareLimits', { size: ShareSize }, { size: 20 });
export const ExceededShareQuotas = exceededQuotasSchema('ExceededFileShareQuotas', ['sfs_count']);

export const FileShareAnswer = wire.Named('FileShare', {
  id: Uuid('File share ID'),
  name: Type.String({ description: 'Name', examples: ['slurm spool'] }),
  size: Type.Integer({ description: 'Size in GiB', examples: [10] }),
  protocol: Type.String({ description: 'Protocol', examples: ['NFS'] }),
  status: wire.Choice(['available', 'creating', 'deleting', 'extending'], 'Status of the share'),
  type_name: wire.Choice(['standard', 'vast'], 'Type of the share'),
  volume_type: wire.Choice(Object.values(VOLUME_TYPES), {
    deprecated: true,
    description: 'Equivalent of type_name with other values',
  }),
  share_settings: Type.Object(
    {
      type_name: wire.Choice(['standard', 'vast']),
      allowed_characters: Type.Optional(wire.nullable(Naming('Allowed characters in names'))),
      path_length: Type.Optional(wire.nullable(Naming('Allowed length of paths'))),
      root_squash: Type.Optional(RootSquash),
      trash_access: wire.OptionalFlag({
        description: 'Whether clients can access the trash folder of VAST. Always false',
      }),
    },
    {
      title: 'FileShareSettings',
      description: 'A standard share has only a type.',
    },
  ),
  connection_point: wire.TextOrNull({
    description: 'Path to mount; null until the share is ready',
    examples: ['10.33.20.241:/a'],
  }),
  ...networkFields,
  network: Type.Object(networkFields, {
    title: 'FileShareNetwork',
    description: 'Network ID, network name, subnet ID and subnet name in one object',
  }),
  share_network_name: wire.TextOrNull({ description: 'Name of the share network; null for VAST' }),
  ...TaggedFields,
  ...MetadataMap,
  ...PlaceFields,
  creator_task_id: Type.String({ description: 'Task that created the share' }),
  task_id: wire.TextOrNull({ description: 'Task that holds the share; null if there is none' }),
  created_at: Type.String({
    description: 'In UTC, without an offset',
    examples: ['2023-04-25T11:06:49.226920'],
  }),
});
export type FileShareAnswer = Static<typeof FileShareAnswer>;
export const FileShareList = wire.listOf(FileShareAnswer, 'FileShareList');

export const FileShareParams = wire.PlaceParams({ file_share_id: 'File share ID' });
export const FileShareListQuery = wire.Query({
  ...wire.listQuery(),
  name: wire.OptionalText({ maxLength: 255, description: 'Part of the name' }),
  type_name: wire.OptionalChoice(['standard', 'vast'], 'Only shares of this type'),
  ...tagQuery,
});
export type FileShareListQuery = Static<typeof FileShareListQuery>;

export const CreateAccessRule = wire.Input('CreateFileShareAccessRule', accessFields, {
  ip_address: '10.0.0.0/24',
  access_mode: 'rw',
});
export type CreateAccessRule = Static<typeof CreateAccessRule>;

export const AccessRuleAnswer = wire.Named('FileShareAccessRule', {
  id: Uuid('Access rule ID'),
  access_to: Type.String({ description: 'IP address or CIDR', examples: ['10.0.0.0/24'] }),
  access_level: AccessMode,
  state: wire.Choice(['active', 'applying', 'denying', 'error', 'new', 'queued_to_apply', 'queued_to_deny'], {
    description: 'Always `active`: a rule takes effect immediately.',
  }),
});
export type AccessRuleAnswer = Static<typeof AccessRuleAnswer>;
export const AccessRuleList = wire.listOf(AccessRuleAnswer, 'FileShareAccessRuleList');
export const AccessRuleListQuery = wire.Query(wire.listQuery());

export const AccessRuleParams = Type.Object({
  ...FileShareParams.properties,
  access_rule_id: Type.String({ description: 'Access rule ID' }),
});

type Share = Selectable<Tables['file_shares']>;

export type FileShareType = Share['type_name'];

export interface VastSettings {
  rootSquash: boolean;
  pathLength: Share['path_length'];
  allowedCharacters: Share['allowed_characters'];
}

/** Returns what a VAST share lacks for Slurm, each as a setting and the value that Slurm needs. */
export function slurmNeeds(settings: VastSettings): string[] {
  return [
    ...(settings.rootSquash ? ['root_squash false'] : []),
    ...(settings.pathLength === 'NPL' ? [] : ['path_length NPL']),
    ...(settings.allowedCharacters === 'NPL' ? [] : ['allowed_characters NPL']),
  ];
}
