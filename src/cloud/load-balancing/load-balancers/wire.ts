import type { Foundation } from '../../../foundation.ts';
import type { Tasks } from '../../ground/tasks/service.ts';
import type { FloatingIps } from '../../network/floating-ips/service.ts';
import { createLoadBalancerChanges } from './changes.ts';
import { createL7Rules } from './l7policies/l7rules.ts';
import { createL7Policies } from './l7policies/service.ts';
import { createListeners } from './listeners/service.ts';
import { createPoolMembers } from './pools/members.ts';
import { createHealthMonitors } from './pools/monitors.ts';
import { createPools } from './pools/service.ts';
import { createLoadBalancers } from './service.ts';
import { createLoadBalancerCare } from './status/service.ts';
import { createEdits } from './tree/edits.ts';

export function wireLoadBalancers(deps: Foundation & { tasks: Tasks; floatingIps: FloatingIps }) {
  const loadBalancers = createLoadBalancers(deps);
  const edits = createEdits(deps);
  return {
    loadBalancers,
    listeners: createListeners({ ...deps, edits }),
    pools: createPools({ ...deps, edits }),
    poolMembers: createPoolMembers({ ...deps, edits }),
    healthMonitors: createHealthMonitors({ ...deps, edits }),
    l7Policies: createL7Policies({ ...deps, edits }),
    l7Rules: createL7Rules({ ...deps, edits }),
    loadBalancerCare: createLoadBalancerCare({ ...deps, edits }),
    loadBalancerChanges: createLoadBalancerChanges({ ...deps, edits, find: loadBalancers.get }),
  };
}
