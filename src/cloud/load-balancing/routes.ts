import type { Dialect } from '../../http/dialect.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { floatingIpListRoutes } from './floating-ip-list/routes.ts';
import { lbFlavorRoutes } from './load-balancers/flavors/routes.ts';
import { l7PolicyRoutes } from './load-balancers/l7policies/routes.ts';
import { listenerRoutes } from './load-balancers/listeners/routes.ts';
import { healthMonitorRoutes, lbMemberRoutes, lbPoolRoutes } from './load-balancers/pools/routes.ts';
import { loadBalancerChangeRoutes, loadBalancerRoutes } from './load-balancers/routes.ts';
import { loadBalancerCareRoutes } from './load-balancers/status/routes.ts';
import { secretRoutes } from './secrets/routes.ts';

/** Registers the operations of the wing under one base address. */
export function registerLoadBalancingRoutes(app: Api, dialect: Dialect, on: Platform): void {
  floatingIpListRoutes(app, on);
  loadBalancerRoutes(app, dialect, on);
  loadBalancerChangeRoutes(app, dialect, on);
  listenerRoutes(app, dialect, on);
  lbPoolRoutes(app, dialect, on);
  lbMemberRoutes(app, dialect, on);
  healthMonitorRoutes(app, dialect, on);
  l7PolicyRoutes(app, dialect, on);
  loadBalancerCareRoutes(app, dialect, on);
  lbFlavorRoutes(app, on);
  secretRoutes(app, dialect, on);
}
