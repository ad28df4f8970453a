import type { VastSettings } from './tables.ts';

/** What a VAST share lacks for Slurm to work on it, each as a setting and the value that it needs. */
export function slurmNeeds(settings: VastSettings): string[] {
  return [
    ...(settings.rootSquash ? ['root_squash false'] : []),
    ...(settings.pathLength === 'NPL' ? [] : ['path_length NPL']),
    ...(settings.allowedCharacters === 'NPL' ? [] : ['allowed_characters NPL']),
  ];
}
