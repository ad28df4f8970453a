import { type Static, Type } from 'typebox';
import * as wire from '../../../lib/wire.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEsfKIr8uyWlnNdPj1cwmvHkx2Hjm/DVTJ9ZQy7KxQm1 me@laptop';

const SharedInProject = Type.Boolean({
  description: 'Whether everyone in the project can use the key, or only the user who added it.',
});

const keyFields = {
  id: Type.String({ format: 'uuid', description: 'SSH key ID' }),
  name: Type.String({ description: 'Unique in the project', examples: ['laptop'] }),
  public_key: Type.String({ description: 'One line, as in a .pub file', examples: [PUBLIC_KEY] }),
  fingerprint: Type.String({
    description: 'As shown by `ssh-keygen -l`',
    examples: ['SHA256:PYC9kPVC6J873CSIbfp0LwYeczP/W4ffObNCuDJ1u5w'],
  }),
  project_id: wire.IntegerOrNull({ description: 'Project ID', examples: [1] }),
  shared_in_project: SharedInProject,
  state: wire.Choice(['ACTIVE', 'DELETING'], 'Always ACTIVE, since a key is deleted immediately'),
  created_at: wire.nullable(wire.Timestamp()),
};

export const SshKeyAnswer = wire.Named('SshKey', keyFields);
export type SshKeyAnswer = Static<typeof SshKeyAnswer>;
export const SshKeyList = wire.listOf(SshKeyAnswer, 'SshKeyList');
export const CreatedSshKey = wire.Named('CreatedSshKey', {
  ...keyFields,
  private_key: wire.TextOrNull({
    description:
      'Private key of a generated key pair, in OpenSSH format. Shown only once and not stored; null if a public key was sent.',
  }),
});

export const CreateSshKey = wire.Input(
  'CreateSshKey',
  {
    name: wire.ResourceName('Name'),
    public_key: wire.OptionalTextOrNull({
      maxLength: 16_384,
      description: 'Content of a .pub file. If omitted, an Ed25519 key pair is generated.',
      examples: [PUBLIC_KEY],
    }),
    shared_in_project: wire.OptionalFlag({ ...SharedInProject, default: true }),
  },
  { name: 'laptop' },
);
export type CreateSshKey = Static<typeof CreateSshKey>;

export const UpdateSshKey = wire.Input(
  'UpdateSshKey',
  { shared_in_project: SharedInProject },
  { shared_in_project: false },
);

export const SshKeysParams = Type.Object({ project_id: wire.IntegerId('Project ID') });
export const SshKeyParams = Type.Object({
  project_id: wire.IntegerId('Project ID'),
  ssh_key_id: Type.String({ description: 'SSH key ID' }),
});

export const SshKeyListQuery = wire.Query({
  ...wire.listQuery(10),
  name: wire.OptionalText({ maxLength: 255, description: 'Part of the name' }),
  order_by: wire.OptionalChoice(['created_at.asc', 'created_at.desc', 'name.asc', 'name.desc'], {
    default: 'created_at.desc',
  }),
});
export type SshKeyListQuery = Static<typeof SshKeyListQuery>;
