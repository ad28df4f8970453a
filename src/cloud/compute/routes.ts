import type { Dialect } from '../../http/dialect.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { directActionRoutes, instanceChangeRoutes } from './instances/changes/routes.ts';
import { consoleStreams, instanceConsoleRoutes } from './instances/console/routes.ts';
import { interfaceRoutes } from './instances/interfaces/routes.ts';
import { instanceMetricsRoutes } from './instances/metrics/routes.ts';
import { instanceOfferRoutes } from './instances/offers/routes.ts';
import { instancePlacementRoutes } from './instances/placement/routes.ts';
import { instanceRoutes } from './instances/routes.ts';
import { groupInstanceRoutes, instanceGroupRoutes } from './instances/security-groups/routes.ts';
import { placementGroupRoutes } from './placement-groups/routes.ts';
import { keyPairRoutes, sshKeyRoutes } from './ssh-keys/routes.ts';

/** Registers the operations of the wing under one base address. */
export function registerComputeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  instanceRoutes(app, dialect, on);
  groupInstanceRoutes(app, on);
  instanceGroupRoutes(app, on);
  instanceChangeRoutes(app, dialect, on);
  interfaceRoutes(app, dialect, on);
  directActionRoutes(app, on);
  instancePlacementRoutes(app, dialect, on);
  placementGroupRoutes(app, dialect, on);
  instanceOfferRoutes(app, on);
  instanceConsoleRoutes(app, on);
  // At one address, which answers name.
  if (dialect.prefix === '') consoleStreams(app, on);
  instanceMetricsRoutes(app, on);
  sshKeyRoutes(app, on);
  if (dialect.legacy) keyPairRoutes(app, on);
}
