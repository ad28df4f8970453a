import { randomUUID } from 'node:crypto';
import { type Caller, type Database, violates } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Page } from '../../lib/page.ts';
import { clustersWithKey } from '../clusters/in-transaction.ts';
import { newKeyPair } from './key-pair.ts';
import { type PublicKey, parsePublicKey } from './public-key.ts';
import type { CreateSshKey, SshKeyListQuery } from './schema.ts';
import * as store from './store.ts';

/** A project that the caller has been found to own, and the caller. */
export interface Place {
  projectId: number;
  principal: { userId: number } & Caller;
}

/** Keys that aren't shared in the project are there for nobody but the user who added them. */
export interface SshKeys {
  /**
   * Adds the given public key, or makes a pair whose private half is returned and kept nowhere.
   * @throws InvalidError, ConflictError for a name that is taken
   */
  create(place: Place, request: CreateSshKey): Promise<store.SshKeyRow & { privateKey: string | null }>;
  /** `addedBy` is the user whose keys alone are wanted. */
  list(place: Place, query: SshKeyListQuery, addedBy?: number): Promise<Page<store.SshKeyRow>>;
  /** The project that has the key, whoever's it is; undefined when there is none. */
  projectOf(id: string): Promise<number | undefined>;
  /** @throws NotFoundError */
  get(place: Place, id: string): Promise<store.SshKeyRow>;
  /** @throws NotFoundError */
  share(place: Place, id: string, shared: boolean): Promise<store.SshKeyRow>;
  /** Machines that have the key already keep it. @throws NotFoundError, ConflictError while a cluster needs it for more of them */
  delete(place: Place, id: string): Promise<void>;
  /** The key of that name, if the caller may use it. */
  byName(place: Place, name: string): Promise<store.SshKeyRow | undefined>;
  hasNamed(place: Place, name: string): Promise<boolean>;
  /** Those of the keys that the caller may use, in lower case. */
  known(place: Place, ids: string[]): Promise<Set<string>>;
}

const SHOWN_IN_MESSAGE = 10;

export function createSshKeys(deps: { database: Database; clock: Clock }): SshKeys {
  const { database, clock } = deps;
  const byName = (place: Place, name: string) => store.findKey(database.sql, viewerOf(place), { name });

  async function get(place: Place, id: string): Promise<store.SshKeyRow> {
    const row = isUuid(id) ? await store.findKey(database.sql, viewerOf(place), { id }) : undefined;
    if (!row) throw notFound(id);
    return row;
  }

  return {
    async create(place, request) {
      const { privateKey, text, fingerprint } = await keyOf(request);
      const row = {
        id: randomUUID(),
        project_id: place.projectId,
        user_id: place.principal.userId,
        name: request.name,
        public_key: text,
        fingerprint,
        shared_in_project: request.shared_in_project ?? true,
        created_at: clock.now(),
      };
      try {
        await database.accept(place.principal, async (tx) => {
          place.principal.writes?.about({ ...row, type: 'ssh_key' });
          await store.insertKey(tx.sql, row);
        });
      } catch (error) {
        if (violates(error, 'ssh_keys_name')) {
          throw new ConflictError(
            `An SSH key named ${request.name} exists already in this project; choose another name`,
          );
        }
        throw error;
      }
      return { ...row, privateKey };
    },
    list: (place, query, addedBy) => store.listKeys(database.sql, viewerOf(place), query, addedBy),
    projectOf: async (id) => (isUuid(id) ? store.projectOf(database.sql, id) : undefined),
    get,
    share: (place, id, shared) =>
      database.accept(place.principal, async (tx) => {
        const row = isUuid(id) ? await store.setShared(tx.sql, viewerOf(place), id, shared) : undefined;
        if (!row) throw notFound(id);
        place.principal.writes?.about({ ...row, type: 'ssh_key' });
        return row;
      }),
    async delete(place, id) {
      await database.accept(place.principal, async (tx) => {
        const key = isUuid(id) ? await store.lockKey(tx, viewerOf(place), id) : undefined;
        if (!key) throw notFound(id);
        place.principal.writes?.about({ ...key, type: 'ssh_key' });
        const clusters = await clustersWithKey(tx, key, SHOWN_IN_MESSAGE);
        if (clusters.length > 0) throw inUse(key.name, clusters);
        await store.deleteKey(tx.sql, key.id);
      });
    },
    byName,
    hasNamed: async (place, name) => (await byName(place, name)) !== undefined,
    known: (place, ids) => store.existingKeys(database.sql, viewerOf(place), ids.filter(isUuid)),
  };
}

function inUse(key: string, clusters: { name: string; onlySlurm: boolean }[]): ConflictError {
  const named = clusters.map(({ name, onlySlurm }) => `${onlySlurm ? 'Slurm of ' : ''}cluster ${name}`);
  const fixes = [
    ...(clusters.some(({ onlySlurm }) => !onlySlurm) ? ['delete the clusters whose nodes get it'] : []),
    ...(clusters.some(({ onlySlurm }) => onlySlurm) ? ['give Slurm other keys'] : []),
  ];
  return new ConflictError(`SSH key ${key} is in use by ${named.join(', ')}; ${fixes.join(' and ')} first`);
}

function viewerOf({ projectId, principal }: Place): store.Viewer {
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
