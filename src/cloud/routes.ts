import type { Dialect } from '../http/dialect.ts';
import type { Api } from '../http/server.ts';
import type { Platform } from '../platform.ts';
import { registerComputeRoutes } from './compute/routes.ts';
import { findScopes } from './ground/projects/request-scope.ts';
import { registerGroundRoutes } from './ground/routes.ts';
import { registerKubernetesRoutes } from './kubernetes/routes.ts';
import { registerLoadBalancingRoutes } from './load-balancing/routes.ts';
import { registerMoneyRoutes } from './money/routes.ts';
import { registerNetworkRoutes } from './network/routes.ts';
import { registerStorageRoutes } from './storage/routes.ts';

/** Registers the operations of all wings under one base address, from the bottom up. */
export function registerCloudRoutes(app: Api, dialect: Dialect, on: Platform): void {
  findScopes(app, on);
  registerGroundRoutes(app, dialect, on);
  registerNetworkRoutes(app, dialect, on);
  registerStorageRoutes(app, dialect, on);
  registerComputeRoutes(app, dialect, on);
  registerLoadBalancingRoutes(app, dialect, on);
  registerKubernetesRoutes(app, dialect, on);
  registerMoneyRoutes(app, on);
}
