import type { TaskType } from '../../../convergence/task-kind.ts';
import { make, remove, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import * as errors from '../../../lib/errors.ts';
import { isUuid, newId, newTaskId, refuseHeld } from '../../../lib/ids.ts';
import { patchedTags, sameTags } from '../../../lib/tags.ts';
import type { Platform, Scope } from '../../../platform.ts';
import type { TagHolder } from '../../ground/metadata/service.ts';
import { exceededQuotas, quotaOwner, takeQuota } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import * as tasks from '../../ground/tasks/service.ts';
import { keepShareSubnet } from '../../network/networks/service.ts';
import { type NewShare, newShare } from './new-share.ts';
import * as schema from './schema.ts';
import * as store from './store.ts';
import { type FileShareRow, insertRules, keepFree, lockShare } from './store.ts';
import * as fileSharesTasks from './tasks.ts';

/** Locks the share. @throws NotFoundError */
export async function lock(tx: Transaction, scope: Scope, id: string): Promise<FileShareRow> {
  const share = isUuid(id) ? await lockShare(tx, scope, id) : undefined;
  if (!share) throw shareNotFound(id);
  tx.about({ ...share, type: 'file_shares' });
  return share;
}

/** Locks the share for a change. @throws NotFoundError, ConflictError while a task holds it */
export async function lockFree(tx: Transaction, scope: Scope, id: string): Promise<FileShareRow> {
  const share = await lock(tx, scope, id);
  refuseHeld(`File share ${share.name}`, share);
  return share;
}

export function shareNotFound(id: string): errors.NotFoundError {
  return new errors.NotFoundError('File share', id);
}

/** What a change makes of a share. `settings` are only those of a VAST share. */
export interface WantedShare {
  name: string;
  tags: Record<string, string>;
  settings: schema.VastSettings | null;
}

/**
 * Returns the share after an update; undefined if the update changes nothing.
 * @throws InvalidError for settings of a standard share, ConflictError for settings that the Slurm of `slurmCluster`
 * can't work with
 */
export function wantedShare(
  share: FileShareRow,
  { name = share.name, share_settings: given, tags: patch }: schema.UpdateFileShare,
  slurmCluster: string | undefined,
): WantedShare | undefined {
  const current = settingsOf(share);
  if (given && current === null) {
    const message = 'Is only allowed for a vast share; leave it out for a standard one.';
    throw new errors.InvalidError([{ field: 'share_settings', message }]);
  }
  const settings = current && {
    rootSquash: given?.root_squash ?? current.rootSquash,
    pathLength: given?.path_length ?? current.pathLength,
    allowedCharacters: given?.allowed_characters ?? current.allowedCharacters,
  };
  const tags = patchedTags(share.tags, patch);
  const sameSettings = JSON.stringify(settings) === JSON.stringify(current);
  if (name === share.name && sameSettings && sameTags(tags, share.tags)) return undefined;
  const needs = settings && slurmCluster !== undefined ? schema.slurmNeeds(settings) : [];
  if (needs.length > 0) {
    throw new errors.ConflictError(
      `Slurm in cluster ${slurmCluster} uses file share ${share.name} and requires ${needs.join(', ')}; disable Slurm there first`,
    );
  }
  return { name, tags, settings };
}

/** Returns the settings of a VAST share; null for a standard one. */
export function settingsOf(share: FileShareRow): schema.VastSettings | null {
  if (share.type_name !== 'vast') return null;
  return {
    rootSquash: share.root_squash ?? true,
    pathLength: share.path_length,
    allowedCharacters: share.allowed_characters,
  };
}

export function rowPatch({ name, tags, settings }: WantedShare) {
  return {
    name,
    tags: JSON.stringify(tags),
    ...(settings && {
      root_squash: settings.rootSquash,
      path_length: settings.pathLength,
      allowed_characters: settings.allowedCharacters,
    }),
  };
}

/** What the preconditions of Slurm look at in a share. */
export interface SlurmShare {
  typeName: schema.FileShareType;
  /** The settings that a VAST share would need for Slurm but doesn't have. */
  lacks: string[];
}

async function find(on: Platform, scope: Scope, id: string): Promise<store.FileShareRow | undefined> {
  return isUuid(id) ? store.findShare(on.database.sql, scope, id) : undefined;
}

/** Accepts a share. Returns the ID of the task that creates it. @throws InvalidError, QuotaExceededError */
export async function createFileShare(on: Platform, scope: Scope, request: schema.CreateFileShare): Promise<string> {
  const wanted = newShare(request, scope.region);
  const id = newId();
  const taskId = newTaskId();
  await on.database.accept(async (tx) => {
    const network = await networkOf(tx, scope, wanted);
    await store.insertShare(tx, { ...rowOf(scope, wanted), ...network, ...held(on, id, taskId) });
    tx.about({ type: 'file_shares', id, name: wanted.name });
    const rules = rulesOf(id, wanted, tx.now);
    await insertRules(tx, rules);
    await tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: fileSharesTasks.CREATE_SHARE,
      data: { ...request, type_name: wanted.typeName, file_share_id: id },
      input: { fileShareId: id, ...quotaOwner(scope) },
      wants: [make('file_share', id, fileSharesTasks.shareSpec(wanted, network, rules))],
    });
    takeQuota(tx, scope, 'sfs_count');
  });
  return taskId;
}

export const listFileShares = (on: Platform, scope: Scope, query: schema.FileShareListQuery) =>
  store.listShares(on.database.sql, scope, query);

/**
 * Returns the ID of the task that deletes the share.
 * @throws NotFoundError, ConflictError while a task holds the share or Slurm uses it
 */
export async function deleteFileShare(on: Platform, scope: Scope, id: string): Promise<string> {
  const taskId = tasks.deletionId(scope);
  return on.database.accept(async (tx) => {
    const share = await lock(tx, scope, id);
    const again = await tasks.removeAgain(on, tx, scope, share.task_id, fileSharesTasks.DELETE_SHARE);
    if (again !== undefined) return again;
    refuseHeld(`File share ${share.name}`, share);
    const cluster = await store.slurmClusterOn(tx, share.id);
    if (cluster !== undefined) {
      throw await tasks.usedBy(
        tx,
        `File share ${share.name} is in use by Slurm in cluster ${cluster.name}; disable Slurm there first`,
        [[{ kind: 'cluster', id: cluster.id }]],
      );
    }
    await store.changeShare(tx, share.id, { status: 'deleting', task_id: taskId });
    return tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: fileSharesTasks.DELETE_SHARE,
      data: { file_share_id: share.id },
      input: { fileShareId: share.id, ...quotaOwner(scope) },
      wants: [remove('file_share', share.id)],
    });
  });
}

/**
 * Returns the ID of the task that changes the share; undefined when nothing has to change.
 * @throws NotFoundError, InvalidError, ConflictError while a task holds it, or for settings that Slurm can't work with
 */
export const updateFileShare = (
  on: Platform,
  scope: Scope,
  id: string,
  request: schema.UpdateFileShare,
  options: tasks.TaskAnyway,
): Promise<string | undefined> =>
  on.database.accept(async (tx) => {
    const share = await lockFree(tx, scope, id);
    const wanted = wantedShare(share, request, (await store.slurmClusterOn(tx, share.id))?.name);
    if (!wanted) {
      const data = { ...request, file_share_id: share.id };
      return tasks.unchangedTask(on, tx, scope, { type: fileSharesTasks.UPDATE_SHARE.type, data }, options);
    }
    const { name, tags, settings } = wanted;
    return begin(on, tx, scope, {
      task: fileSharesTasks.UPDATE_SHARE,
      input: { fileShareId: share.id, patch: rowPatch(wanted) },
      shown: request,
      want: fileSharesTasks.changedShare(share.id, { name, metadata: tags, settings }),
    });
  });

/**
 * Returns the ID of the task that enlarges the share.
 * @throws NotFoundError, InvalidError, ConflictError while a task holds it
 */
export const extendFileShare = (on: Platform, scope: Scope, id: string, size: number): Promise<string> =>
  on.database.accept(async (tx) => {
    const share = await lockFree(tx, scope, id);
    if (size <= share.size_gib) {
      throw new errors.InvalidError({
        size: [`Must be larger than the current size of ${share.size_gib} GiB.`],
      });
    }
    return begin(on, tx, scope, {
      task: fileSharesTasks.EXTEND_SHARE,
      input: { fileShareId: share.id, patch: { size_gib: size } },
      shown: { size },
      want: fileSharesTasks.changedShare(share.id, { sizeGib: size }),
    });
  });

/** Returns the quotas that another share would exceed. */
export const fileShareQuotaExceeded = (on: Platform, scope: Scope): Promise<errors.QuotaExceededError['info'][]> =>
  exceededQuotas(on.database.sql, scope, { sfs_count: 1 });

export const fileShareTags: TagHolder = {
  read: getFileShare,
  async change(on, tx, scope, id, plan) {
    const share = await lockFree(tx, scope, id);
    const tags = plan(share.tags);
    await store.changeShare(tx, share.id, { tags: JSON.stringify(tags) });
    await tasks.wantChecked(on, tx, scope, [fileSharesTasks.changedShare(share.id, { metadata: tags })]);
  },
};

/** Returns undefined also while the share is being created or deleted. */
export async function fileSharesForSlurm(on: Platform, scope: Scope, id: string): Promise<SlurmShare | undefined> {
  const row = await find(on, scope, id);
  if (row?.task_id !== null) return undefined;
  const settings = settingsOf(row);
  return { typeName: row.type_name, lacks: settings ? schema.slurmNeeds(settings) : [] };
}

/** @throws NotFoundError */
export async function getFileShare(on: Platform, scope: Scope, id: string): Promise<store.FileShareRow> {
  const row = await find(on, scope, id);
  if (!row) throw shareNotFound(id);
  return row;
}

/** Holds the share for a new task and returns the task's ID. */
async function begin(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  {
    task,
    input,
    shown,
    want,
  }: {
    task: TaskType<fileSharesTasks.ShareChange>;
    input: fileSharesTasks.ShareChange;
    shown: object;
    want: Wanted;
  },
): Promise<string> {
  const id = newTaskId();
  const status = task === fileSharesTasks.EXTEND_SHARE && { status: 'extending' as const };
  await store.changeShare(tx, input.fileShareId, { task_id: id, ...status });
  return tasks.beginTask(on, tx, scope, {
    id,
    task,
    data: { file_share_id: input.fileShareId, ...shown },
    input,
    wants: [want],
  });
}

async function networkOf(tx: Transaction, scope: Scope, { network }: NewShare) {
  if (!network) return { network_id: null, network_name: null, subnet_id: null, subnet_name: null };
  const { networkId, subnetId } = network;
  const subnet = await keepShareSubnet(tx, scope, networkId, subnetId);
  if (!subnet) throw new errors.InvalidError([noSubnet(networkId, subnetId)]);
  return {
    network_id: networkId,
    network_name: subnet.networkName,
    subnet_id: subnet.subnetId,
    subnet_name: subnet.subnetName,
  };
}

function held(on: Platform, id: string, taskId: string) {
  return { id, status: 'creating', creator_task_id: taskId, task_id: taskId, created_at: on.clock.now() } as const;
}

function rowOf(scope: Scope, share: NewShare) {
  return {
    project_id: scope.projectId,
    region_id: scope.regionId,
    name: share.name,
    type_name: share.typeName,
    protocol: 'NFS' as const,
    size_gib: share.sizeGib,
    root_squash: share.settings?.rootSquash ?? null,
    path_length: share.settings?.pathLength ?? null,
    allowed_characters: share.settings?.allowedCharacters ?? null,
    connection_point: null,
    tags: JSON.stringify(share.tags),
  };
}

function rulesOf(shareId: string, { access }: NewShare, now: Date) {
  return access.map((rule) => ({
    id: newId(),
    file_share_id: shareId,
    access_to: rule.ip_address,
    access_level: rule.access_mode,
    created_at: now,
  }));
}

function noSubnet(networkId: string, subnetId: string | undefined): errors.FieldProblem {
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

export const fileShareDeletion = waitingDeletion('delete_sfs', deleteFileShare, ['file_share_id']);

/** Locks the share until the transaction ends. False if it is gone, held by a task or not suitable for Slurm now. */
export async function keepForSlurm(tx: Transaction, scope: Scope, id: string): Promise<boolean> {
  const row = await keepFree(tx, scope, id);
  const settings = row ? settingsOf(row) : null;
  return settings !== null && schema.slurmNeeds(settings).length === 0;
}
