import type { Selectable } from 'kysely';
import type { Tables } from '../../../db/tables.ts';

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
