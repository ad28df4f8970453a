import { type Static, Type } from 'typebox';
import { isoSeconds } from '../../../lib/time.ts';
import * as wire from '../../../lib/wire.ts';
import { CreateSshKey, SshKeyAnswer } from './schema.ts';
import type { SshKeyRow } from './store.ts';

/** Key pairs: SSH keys as the library under the older Terraform provider sees them. The rows are the same. */

const { fingerprint, project_id, public_key, shared_in_project, state, created_at } = SshKeyAnswer.properties;

export const KeyPairAnswer = wire.Named('KeyPair', {
  sshkey_id: Type.String({ format: 'uuid', description: 'ID of the SSH key' }),
  sshkey_name: Type.String({ description: 'Unique in the project', examples: ['laptop'] }),
  public_key,
  private_key: wire.TextOrNull({ description: 'Shown only once, when the key pair is generated; not stored' }),
  fingerprint,
  project_id,
  shared_in_project,
  state,
  created_at,
});
export type KeyPairAnswer = Static<typeof KeyPairAnswer>;
export const KeyPairList = wire.listOf(KeyPairAnswer, 'KeyPairList');

const created = {
  sshkey_name: wire.ResourceName('Name'),
  public_key: CreateSshKey.properties.public_key,
  shared_in_project: Type.Optional(
    wire.nullable(Type.Boolean({ default: true, description: 'Whether everyone in the project can use it' })),
  ),
};
export const CreateKeyPairV1 = wire.Input('CreateKeyPairV1', created, { sshkey_name: 'desktop' });
export const CreateKeyPair = wire.Input(
  'CreateKeyPair',
  { ...created, project_id: wire.IntegerId('Project ID') },
  { sshkey_name: 'laptop', project_id: 1 },
);

export const KeyPairListQuery = wire.Query({
  project_id: wire.IntegerId('Project ID'),
  user_id: Type.Optional(wire.IntegerId('Only keys that this user added')),
});

const keypair_id = Type.String({ description: 'ID of the SSH key' });
export const KeyPairParams = Type.Object({ keypair_id });
export const KeyPairParamsV1 = Type.Object({ ...wire.ProjectRegion, keypair_id });

export function newSshKey(body: Static<typeof CreateKeyPairV1>): CreateSshKey {
  const { sshkey_name: name, public_key: publicKey, shared_in_project: shared } = body;
  return { name, public_key: publicKey ?? null, shared_in_project: shared ?? true };
}

export function presentedKeyPair(row: SshKeyRow, privateKey: string | null = null): KeyPairAnswer {
  return {
    sshkey_id: row.id,
    ...row,
    sshkey_name: row.name,
    private_key: privateKey,
    state: 'ACTIVE',
    created_at: isoSeconds(row.created_at),
  };
}
