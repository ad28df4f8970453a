import type { FileShareSpec } from '../../../backends/contract/specs.ts';
import { type TaskEnd, type TaskType, taskType } from '../../../convergence/task-kind.ts';
import { change, type Wanted } from '../../../convergence/wants.ts';
import { type QuotaOwner, releaseQuota } from '../../ground/quotas/service.ts';
import type { NewShare } from './new-share.ts';
import type { VastSettings } from './schema.ts';
import { deleteShare, makeAvailable, type SharePatch } from './store.ts';

interface ShareInput extends QuotaOwner {
  fileShareId: string;
}

export interface ShareChange {
  fileShareId: string;
  /** What to write to the row when the task is done. */
  patch: SharePatch;
}

export const CREATE_SHARE = taskType<ShareInput>('create_sfs');
export const DELETE_SHARE = taskType<ShareInput>('delete_sfs');
export const UPDATE_SHARE = taskType<ShareChange>('update_sfs');
export const EXTEND_SHARE = taskType<ShareChange>('extend_sfs');

/** How tasks on file shares end. The task holds the share until then. */
export function fileShareTasks(): TaskEnd[] {
  const create: TaskEnd<ShareInput> = {
    ...CREATE_SHARE,
    async complete(tx, _task, { fileShareId }, seen) {
      const { connectionPoint } = seen('file_share', fileShareId);
      await makeAvailable(tx, fileShareId, { connection_point: connectionPoint });
      return { file_shares: [fileShareId] };
    },
    async abandon(tx, _task, { fileShareId, ...owner }) {
      await deleteShare(tx, fileShareId);
      releaseQuota(tx, owner, 'sfs_count');
    },
  };

  const remove: TaskEnd<ShareInput> = {
    ...DELETE_SHARE,
    removes: true,
    async complete(tx, _task, { fileShareId, ...owner }) {
      await deleteShare(tx, fileShareId);
      releaseQuota(tx, owner, 'sfs_count');
    },
  };

  const change = (task: TaskType<ShareChange>): TaskEnd<ShareChange> => ({
    ...task,
    complete: (tx, _task, { fileShareId, patch }) => makeAvailable(tx, fileShareId, patch),
    abandon: (tx, _task, { fileShareId }) => makeAvailable(tx, fileShareId),
  });

  return [create, remove, change(UPDATE_SHARE), change(EXTEND_SHARE)];
}

interface Rule {
  id: string;
  access_to: string;
  access_level: 'ro' | 'rw';
}

export function shareSpec(
  share: Pick<NewShare, 'name' | 'settings' | 'sizeGib' | 'tags' | 'typeName'>,
  network: { network_id: string | null; subnet_id: string | null },
  rules: readonly Rule[],
): FileShareSpec {
  const { network_id: networkId, subnet_id: subnetId } = network;
  return {
    name: share.name,
    type: share.typeName,
    sizeGib: share.sizeGib,
    ...(networkId !== null && subnetId !== null && { subnet: { networkId, subnetId } }),
    access: Object.fromEntries(rules.map((rule) => [rule.id, accessOf(rule)])),
    ...(share.settings && { settings: settingsSpec(share.settings) }),
    metadata: share.tags,
  };
}

export function changedShare(
  id: string,
  changed: {
    name?: string;
    sizeGib?: number;
    metadata?: Record<string, string>;
    settings?: VastSettings | null;
  },
): Wanted {
  const { settings, ...rest } = changed;
  return change('file_share', id, (spec) => ({
    ...spec,
    ...rest,
    ...(settings && { settings: settingsSpec(settings) }),
  }));
}

export function letIn(shareId: string, rule: Rule): Wanted {
  return change('file_share', shareId, (spec) => ({
    ...spec,
    access: { ...spec.access, [rule.id]: accessOf(rule) },
  }));
}

export function shutOut(shareId: string, ruleId: string): Wanted {
  return change('file_share', shareId, (spec) => {
    const { [ruleId]: _, ...access } = spec.access;
    return { ...spec, access };
  });
}

const accessOf = ({ access_to: to, access_level: level }: Rule) => ({ to, level });

function settingsSpec({
  rootSquash,
  pathLength,
  allowedCharacters,
}: VastSettings): NonNullable<FileShareSpec['settings']> {
  return {
    rootSquash,
    ...(pathLength !== null && { pathLength }),
    ...(allowedCharacters !== null && { allowedCharacters }),
  };
}
