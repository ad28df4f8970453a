import type { WingTasks } from '../ground/tasks/behind/service.ts';
import { clusterPoolDeletion } from './clusters/pools/service.ts';
import { poolTasks } from './clusters/pools/tasks.ts';
import { clusterDeletion, deleteCluster } from './clusters/service.ts';
import { clusterTasks } from './clusters/tasks.ts';

export const KUBERNETES_TASKS: WingTasks = {
  ends: (foundation) => [...clusterTasks(foundation), ...poolTasks()],
  deletions: [clusterDeletion, clusterPoolDeletion],
  removals: {
    k8s_cluster: (on, scope, name) => deleteCluster(on, scope, name, []),
  },
};
