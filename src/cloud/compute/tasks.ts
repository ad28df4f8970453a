import type { WingTasks } from '../ground/tasks/behind/service.ts';
import { instanceChangeTasks } from './instances/changes/service.ts';
import { interfaceTasks } from './instances/interfaces/tasks.ts';
import { instanceNoticed } from './instances/observed.ts';
import { placementTasks } from './instances/placement/service.ts';
import { deleteInstance, instanceDeletion } from './instances/service.ts';
import { instanceTasks } from './instances/tasks.ts';
import { deletePlacementGroup, placementGroupDeletion, placementGroupTasks } from './placement-groups/service.ts';
import { deleteSshKey } from './ssh-keys/service.ts';

export const COMPUTE_TASKS: WingTasks = {
  ends: () => [
    ...instanceTasks(),
    ...instanceChangeTasks(),
    ...interfaceTasks(),
    ...placementGroupTasks(),
    ...placementTasks(),
  ],
  deletions: [instanceDeletion, placementGroupDeletion],
  notices: { machine: instanceNoticed },
  removals: {
    instance: (on, scope, id) =>
      deleteInstance(on, scope, id, { volumes: [], floatings: [], reservedFixedIps: [], deleteFloatings: false }),
    servergroup: deletePlacementGroup,
    ssh_key: deleteSshKey,
  },
};
