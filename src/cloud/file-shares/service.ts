import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { placeOf } from '../projects/place.ts';
import type { Scope } from '../projects/service.ts';
import { takeQuota } from '../quotas/quotas.ts';
import { refuseHeld } from '../tasks/held.ts';
import type { Tasks } from '../tasks/service.ts';
import { type NewShare, newShare } from './new-share.ts';
import type { CreateFileShare, FileShareListQuery } from './schema.ts';
import * as store from './store.ts';
import type { FileShareNaming, FileShareType } from './tables.ts';
import { CREATE_TASK, DEADLINE_MS, DELETE_TASK, type FileShareJob } from './workflow.ts';

/** What standard shares need to know of networks. */
export interface ShareNetworks {
  /** A subnet of the network, its first one when none is named; undefined when either isn't there for the scope. */
  subnetFor(
    scope: Scope,
    networkId: string,
    subnetId: string | undefined,
  ): Promise<{ networkName: string; subnetId: string; subnetName: string } | undefined>;
}

/** Who keeps a share from being deleted. */
export interface ShareUsers {
  /** Name of a cluster whose Slurm add-on works on the share, if there is one. */
  slurmClusterOn(tx: Transaction, shareId: string): Promise<string | undefined>;
}

/** A share as the preconditions of Slurm look at it. */
export interface SlurmShare {
  typeName: FileShareType;
  rootSquash: boolean;
  pathLength: FileShareNaming | null;
  allowedCharacters: FileShareNaming | null;
}

export interface FileShares {
  /**
   * Accepts a share and answers the id of the task that makes it.
   * @throws InvalidError, QuotaExceededError
   */
  create(scope: Scope, request: CreateFileShare): Promise<string>;
  list(scope: Scope, query: FileShareListQuery): Promise<{ count: number; rows: store.FileShareRow[] }>;
  /** @throws NotFoundError */
  get(scope: Scope, id: string): Promise<store.FileShareRow>;
  /**
   * Answers the id of the task that deletes it.
   * @throws NotFoundError, ConflictError while a task holds the share or Slurm works on it
   */
  delete(scope: Scope, id: string): Promise<string>;
  /** Undefined as well while the share is being made or deleted. */
  forSlurm(scope: Scope, id: string): Promise<SlurmShare | undefined>;
  /** Keeps the share from being deleted until the transaction ends; false when it is gone or on its way out. */
  keepForSlurm(tx: Transaction, scope: Scope, id: string): Promise<boolean>;
}

export function createFileShares(deps: {
  database: Database;
  clock: Clock;
  tasks: Tasks;
  networks: ShareNetworks;
  users: ShareUsers;
}): FileShares {
  const { database, clock, tasks, networks, users } = deps;

  async function find(scope: Scope, id: string): Promise<store.FileShareRow | undefined> {
    return isUuid(id) ? store.findShare(database.sql, placeOf(scope), id) : undefined;
  }

  return {
    async create(scope, request) {
      const wanted = newShare(request, scope.region);
      const network = await networkOf(scope, wanted);
      const id = randomUUID();
      const taskId = randomUUID();
      await database.accept(scope.principal, async (tx) => {
        await store.insertShare(tx, { ...rowOf(scope, wanted), ...network, ...held(id, taskId) });
        await tasks.start(tx, scope, {
          id: taskId,
          type: CREATE_TASK,
          data: { ...request, type_name: wanted.typeName, file_share_id: id },
          input: jobOf(scope, id, wanted.sizeGib),
          deadlineMs: DEADLINE_MS,
        });
        await takeQuota(tx, scope, 'sfs_count');
      });
      return taskId;
    },

    list: (scope, query) => store.listShares(database.sql, placeOf(scope), query),

    async get(scope, id) {
      const row = await find(scope, id);
      if (!row) throw notFound(id);
      return row;
    },

    async delete(scope, id) {
      if (!isUuid(id)) throw notFound(id);
      const taskId = randomUUID();
      await database.accept(scope.principal, async (tx) => {
        const share = await store.lockShare(tx, placeOf(scope), id);
        if (!share) throw notFound(id);
        refuseHeld(`File share ${share.name}`, share);
        const cluster = await users.slurmClusterOn(tx, share.id);
        if (cluster !== undefined) {
          throw new ConflictError(
            `File share ${share.name} is in use by Slurm in cluster ${cluster}; switch Slurm off there first`,
          );
        }
        await store.holdForDeletion(tx, share.id, taskId);
        await tasks.start(tx, scope, {
          id: taskId,
          type: DELETE_TASK,
          data: { file_share_id: share.id },
          input: jobOf(scope, share.id, share.size_gib),
          deadlineMs: DEADLINE_MS,
        });
      });
      return taskId;
    },

    async forSlurm(scope, id) {
      const row = await find(scope, id);
      if (row?.status !== 'available') return undefined;
      return {
        typeName: row.type_name,
        // Slurm wants it off, and a standard share has no such switch.
        rootSquash: row.root_squash ?? true,
        pathLength: row.path_length,
        allowedCharacters: row.allowed_characters,
      };
    },

    keepForSlurm: (tx, scope, id) => store.keepAvailable(tx, placeOf(scope), id),
  };

  async function networkOf(scope: Scope, { network }: NewShare) {
    if (!network) return { network_id: null, network_name: null, subnet_id: null, subnet_name: null };
    const { networkId, subnetId } = network;
    const subnet = await networks.subnetFor(scope, networkId, subnetId);
    if (!subnet) throw new InvalidError([noSubnet(networkId, subnetId)]);
    return {
      network_id: networkId,
      network_name: subnet.networkName,
      subnet_id: subnet.subnetId,
      subnet_name: subnet.subnetName,
    };
  }

  function held(id: string, taskId: string) {
    return {
      id,
      status: 'creating',
      creator_task_id: taskId,
      task_id: taskId,
      created_at: clock.now(),
    } as const;
  }
}

function rowOf(scope: Scope, share: NewShare) {
  return {
    project_id: scope.projectId,
    region_id: scope.region.id,
    name: share.name,
    type_name: share.typeName,
    protocol: 'NFS' as const,
    size_gib: share.sizeGib,
    access: JSON.stringify(share.access),
    root_squash: share.settings?.rootSquash ?? null,
    path_length: share.settings?.pathLength ?? null,
    allowed_characters: share.settings?.allowedCharacters ?? null,
    connection_point: null,
    tags: JSON.stringify(share.tags),
  };
}

function jobOf(scope: Scope, fileShareId: string, sizeGib: number): FileShareJob {
  return { fileShareId, sizeGib, clientId: scope.clientId, regionId: scope.region.id };
}

function noSubnet(networkId: string, subnetId: string | undefined): FieldProblem {
  return subnetId === undefined
    ? {
        field: 'network.network_id',
        message: `No network ${networkId} with a subnet in this project and region.`,
      }
    : {
        field: 'network.subnet_id',
        message: `No subnet ${subnetId} of network ${networkId} in this project and region.`,
      };
}

function notFound(id: string): NotFoundError {
  return new NotFoundError('File share', id);
}
