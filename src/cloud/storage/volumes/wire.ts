import type { Foundation } from '../../../foundation.ts';
import type { Tasks } from '../../ground/tasks/service.ts';
import { createVolumeChanges } from './changes/service.ts';
import { createVolumes } from './service.ts';

export function wireVolumes(deps: Foundation & { tasks: Tasks }) {
  return { volumes: createVolumes(deps), volumeChanges: createVolumeChanges(deps) };
}
