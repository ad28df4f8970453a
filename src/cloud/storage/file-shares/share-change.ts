import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import { patchedTags, sameTags } from '../../../lib/tags.ts';
import type { UpdateFileShare } from './schema.ts';
import { slurmNeeds, type VastSettings } from './share-types.ts';
import type { FileShareRow } from './store.ts';

/** What a change makes of a share. `settings` are only those of a VAST share. */
export interface WantedShare {
  name: string;
  tags: Record<string, string>;
  settings: VastSettings | null;
}

/**
 * Returns the share after an update; undefined if the update changes nothing.
 * @throws InvalidError for settings of a standard share, ConflictError for settings that the Slurm of `slurmCluster`
 * can't work with
 */
export function wantedShare(
  share: FileShareRow,
  { name = share.name, share_settings: given, tags: patch }: UpdateFileShare,
  slurmCluster: string | undefined,
): WantedShare | undefined {
  const current = settingsOf(share);
  if (given && current === null) {
    const message = 'Is only allowed for a vast share; leave it out for a standard one.';
    throw new InvalidError([{ field: 'share_settings', message }]);
  }
  const settings = current && {
    rootSquash: given?.root_squash ?? current.rootSquash,
    pathLength: given?.path_length ?? current.pathLength,
    allowedCharacters: given?.allowed_characters ?? current.allowedCharacters,
  };
  const tags = patchedTags(share.tags, patch);
  const sameSettings = JSON.stringify(settings) === JSON.stringify(current);
  if (name === share.name && sameSettings && sameTags(tags, share.tags)) return undefined;
  const needs = settings && slurmCluster !== undefined ? slurmNeeds(settings) : [];
  if (needs.length > 0) {
    throw new ConflictError(
      `Slurm in cluster ${slurmCluster} uses file share ${share.name} and requires ${needs.join(', ')}; disable Slurm there first`,
    );
  }
  return { name, tags, settings };
}

/** Returns the settings of a VAST share; null for a standard one. */
export function settingsOf(share: FileShareRow): VastSettings | null {
  if (share.type_name !== 'vast') return null;
  return {
    rootSquash: share.root_squash ?? true,
    pathLength: share.path_length,
    allowedCharacters: share.allowed_characters,
  };
}

/** Returns the columns to change. */
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
