import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { type Transaction, violates } from '../../../db/database.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import type { Platform } from '../../../platform.ts';
import { refuseOneMore } from '../../ground/quotas/service.ts';
import { fingerprintOf, type PublicKey, parsePublicKey, sshString, uint32 } from './public-key.ts';
import type { CreateSshKey, SshKeyListQuery } from './schema.ts';
import type { SshKeyRow } from './store.ts';
import * as store from './store.ts';

const TYPE = 'ssh-ed25519';
const MAGIC = 'openssh-key-v1\0';
const BLOCK = 8;

/** Creates an Ed25519 key pair. `privateKey` is a file for OpenSSH, without a passphrase (OpenSSH's PROTOCOL.key). */
export async function newKeyPair(comment: string): Promise<PublicKey & { privateKey: string }> {
  const pair = await promisify(generateKeyPair)('ed25519');
  const { x = '', d = '' } = pair.privateKey.export({ format: 'jwk' });
  const point = Buffer.from(x, 'base64url');
  const seed = Buffer.from(d, 'base64url');
  const blob = Buffer.concat([sshString(TYPE), sshString(point)]);
  return {
    text: `${TYPE} ${blob.toString('base64')} ${comment}`,
    fingerprint: fingerprintOf(blob),
    privateKey: armoured(
      Buffer.concat([
        Buffer.from(MAGIC),
        sshString('none'),
        sshString('none'),
        sshString(''),
        uint32(1),
        sshString(blob),
        sshString(secretSection(point, seed, comment)),
      ]),
    ),
  };
}

function secretSection(point: Buffer, seed: Buffer, comment: string): Buffer {
  // The same random number twice lets a reader check the decryption.
  const check = randomBytes(4);
  const section = Buffer.concat([
    check,
    check,
    sshString(TYPE),
    sshString(point),
    sshString(Buffer.concat([seed, point])),
    sshString(comment),
  ]);
  const missing = (BLOCK - (section.length % BLOCK)) % BLOCK;
  return Buffer.concat([section, Buffer.from(Array.from({ length: missing }, (_, index) => index + 1))]);
}

function armoured(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n');
}

/* SSH keys. A key that isn't shared in the project only exists for the user who added it. */

/** A project that belongs to the caller, and the caller. */
export interface ProjectScope {
  projectId: number;
  principal: { userId: number };
}

const SHOWN_IN_MESSAGE = 10;

export const findSshKeyByName = (on: Platform, scope: ProjectScope, name: string) =>
  store.findKey(on.database.sql, viewerOf(scope), { name });

/** @throws NotFoundError */
export async function getSshKey(on: Platform, scope: ProjectScope, id: string): Promise<store.SshKeyRow> {
  const row = isUuid(id) ? await store.findKey(on.database.sql, viewerOf(scope), { id }) : undefined;
  if (!row) throw notFound(id);
  return row;
}

/**
 * Adds the given public key, or creates a pair whose private key is returned and not stored.
 * @throws InvalidError, ConflictError for a name that is taken
 */
export async function createSshKey(
  on: Platform,
  scope: ProjectScope,
  request: CreateSshKey,
): Promise<store.SshKeyRow & { privateKey: string | null }> {
  const { privateKey, text, fingerprint } = await keyOf(request);
  const row = {
    id: newId(),
    project_id: scope.projectId,
    user_id: scope.principal.userId,
    name: request.name,
    public_key: text,
    fingerprint,
    shared_in_project: request.shared_in_project ?? true,
    created_at: on.clock.now(),
  };
  try {
    await on.database.accept(async (tx) => {
      tx.about({ ...row, type: 'ssh_key' });
      await refuseOneMore(tx, scope, 'keypair_count');
      await store.insertKey(tx.sql, row);
    });
  } catch (error) {
    if (violates(error, 'ssh_keys_name')) {
      throw new ConflictError(`An SSH key named ${request.name} already exists in this project; choose another name`);
    }
    throw error;
  }
  return { ...row, privateKey };
}

/** With `addedBy`, lists only the keys of that user. */
export const listSshKeys = (on: Platform, scope: ProjectScope, query: SshKeyListQuery, addedBy?: number) =>
  store.listKeys(on.database.sql, viewerOf(scope), query, addedBy);

/** Returns the key's project, even if it belongs to another account; undefined for an unknown key. */
export const projectOfSshKey = async (on: Platform, id: string): Promise<number | undefined> =>
  isUuid(id) ? store.projectOf(on.database.sql, id) : undefined;

/** @throws NotFoundError */
export const shareSshKey = (on: Platform, scope: ProjectScope, id: string, shared: boolean): Promise<store.SshKeyRow> =>
  on.database.accept(async (tx) => {
    const row = isUuid(id) ? await store.setShared(tx.sql, viewerOf(scope), id, shared) : undefined;
    if (!row) throw notFound(id);
    tx.about({ ...row, type: 'ssh_key' });
    return row;
  });

/** Machines that have the key keep it. @throws NotFoundError, ConflictError while a cluster needs it for new ones */
export async function deleteSshKey(on: Platform, scope: ProjectScope, id: string): Promise<void> {
  await on.database.accept(async (tx) => {
    const key = isUuid(id) ? await store.lockKey(tx, viewerOf(scope), id) : undefined;
    if (!key) throw notFound(id);
    tx.about({ ...key, type: 'ssh_key' });
    const clusters = await store.clustersWithKey(tx, key, SHOWN_IN_MESSAGE);
    if (clusters.length > 0) throw inUse(key.name, clusters);
    await tx.sql.deleteFrom('ssh_keys').where('id', '=', key.id).execute();
  });
}

export const hasSshKeyNamed = async (on: Platform, scope: ProjectScope, name: string): Promise<boolean> =>
  (await findSshKeyByName(on, scope, name)) !== undefined;

/** Returns the IDs of those keys that the caller may use, in lower case. */
export const knownSshKeys = (on: Platform, scope: ProjectScope, ids: string[]): Promise<Set<string>> =>
  store.existingKeys(on.database.sql, viewerOf(scope), ids.filter(isUuid));

function inUse(key: string, clusters: { name: string; onlySlurm: boolean }[]): ConflictError {
  const named = clusters.map(({ name, onlySlurm }) => `${onlySlurm ? 'Slurm of ' : ''}cluster ${name}`);
  const fixes = [
    ...(clusters.some(({ onlySlurm }) => !onlySlurm) ? ['delete the clusters whose nodes use it'] : []),
    ...(clusters.some(({ onlySlurm }) => onlySlurm) ? ['choose other keys for Slurm'] : []),
  ];
  return new ConflictError(`SSH key ${key} is in use by ${named.join(', ')}; ${fixes.join(' and ')} first`);
}

function viewerOf({ projectId, principal }: ProjectScope): store.Viewer {
  return { projectId, userId: principal.userId };
}

async function keyOf(request: CreateSshKey): Promise<PublicKey & { privateKey: string | null }> {
  const given = request.public_key ?? null;
  if (given === null) return newKeyPair(request.name);
  const key = parsePublicKey(given);
  if (typeof key === 'string') throw new InvalidError([{ field: 'public_key', message: key }]);
  return { ...key, privateKey: null };
}

function notFound(id: string): NotFoundError {
  return new NotFoundError('SSH key', id);
}

/** Keeps keys of the project from being deleted, no matter who may use them. Returns the keys that exist. */
export async function keep(
  tx: Transaction,
  { projectId }: { projectId: number },
  { names, ids }: { names: string[]; ids: string[] },
): Promise<Pick<SshKeyRow, 'id' | 'name' | 'public_key'>[]> {
  return tx.sql
    .selectFrom('ssh_keys')
    .select(['id', 'name', 'public_key'])
    .where('project_id', '=', projectId)
    .where(sql<boolean>`(name = any(${names}) or id = any(${ids.filter(isUuid)}::uuid[]))`)
    .orderBy('id')
    .forKeyShare()
    .execute();
}
