import type { WingTasks } from '../ground/tasks/behind/service.ts';
import { l7RuleDeletion } from './load-balancers/l7policies/l7rules.ts';
import { l7PolicyDeletion } from './load-balancers/l7policies/service.ts';
import { listenerDeletion } from './load-balancers/listeners/service.ts';
import { poolMemberDeletion } from './load-balancers/pools/members.ts';
import { poolDeletion } from './load-balancers/pools/service.ts';
import { deleteLoadBalancer, loadBalancerDeletion } from './load-balancers/service.ts';
import { loadBalancerTasks } from './load-balancers/tasks.ts';
import { deleteSecret, secretDeletion } from './secrets/service.ts';
import { secretTasks } from './secrets/store.ts';

export const LOAD_BALANCING_TASKS: WingTasks = {
  ends: () => [...loadBalancerTasks(), ...secretTasks()],
  deletions: [
    l7PolicyDeletion,
    l7RuleDeletion,
    listenerDeletion,
    loadBalancerDeletion,
    poolDeletion,
    poolMemberDeletion,
    secretDeletion,
  ],
  removals: {
    loadbalancer: deleteLoadBalancer,
    secret: deleteSecret,
  },
};
