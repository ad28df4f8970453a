import type { Notices } from '../convergence/task-kind.ts';
import { COMPUTE_TASKS } from './compute/tasks.ts';
import { deleteLogTopic, setLoggingStatus } from './ground/logging/service.ts';
import type { Removals, WaitingDeletion, WingTasks } from './ground/tasks/behind/service.ts';
import { KUBERNETES_TASKS } from './kubernetes/tasks.ts';
import { LOAD_BALANCING_TASKS } from './load-balancing/tasks.ts';
import { NETWORK_TASKS } from './network/tasks.ts';
import { STORAGE_TASKS } from './storage/tasks.ts';

/** Logging alone has no tasks of its own. */
const GROUND_TASKS: WingTasks = {
  ends: () => [],
  deletions: [],
  removals: {
    laas: (on, scope) => setLoggingStatus(on, scope, { is_initialized: false }),
    laas_topic: deleteLogTopic,
  },
};
export const WINGS: readonly WingTasks[] = [
  GROUND_TASKS,
  NETWORK_TASKS,
  STORAGE_TASKS,
  COMPUTE_TASKS,
  LOAD_BALANCING_TASKS,
  KUBERNETES_TASKS,
];

/** The deletions that may wait for what still uses the thing. */
export const WAITING_DELETIONS: readonly WaitingDeletion[] = WINGS.flatMap(({ deletions }) => deletions);

export const NOTICES: Notices = Object.assign({}, ...WINGS.map(({ notices }) => notices));

/** What removes a thing of any kind along with its project. */
export const REMOVALS: Removals = Object.assign({}, ...WINGS.map(({ removals }) => removals));
