import type { VastSettings } from './share-types.ts';

/** Returns what a VAST share lacks for Slurm, each as a setting and the value that Slurm needs. */
export function slurmNeeds(settings: VastSettings): string[] {
  return [
    ...(settings.rootSquash ? ['root_squash false'] : []),
    ...(settings.pathLength === 'NPL' ? [] : ['path_length NPL']),
    ...(settings.allowedCharacters === 'NPL' ? [] : ['allowed_characters NPL']),
  ];
}
