import type { Dialect } from '../../http/dialect.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { catalogRoutes, olderLoggingHostRoutes } from './catalog/routes.ts';
import { loggingRoutes } from './logging/routes.ts';
import { maintenanceRoutes } from './maintenance/routes.ts';
import { flavorRoutes, kubernetesOfferRoutes } from './prices/flavor-routes.ts';
import { priceListRoutes } from './prices/lists/routes.ts';
import { partyRoutes } from './prices/parties/routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { quotaListRoutes } from './quotas/lists/routes.ts';
import { limitRequestRoutes } from './quotas/requests/routes.ts';
import { quotaRoutes } from './quotas/routes.ts';
import { taskCancellationRoutes, taskRoutes } from './tasks/routes.ts';
import { requestLogRoutes, userActionRoutes } from './user-actions/routes.ts';
import { amqpSubscriptionRoutes, subscriptionRoutes } from './user-actions/subscriptions/routes.ts';

/** Registers the operations of the wing under one base address. */
export function registerGroundRoutes(app: Api, dialect: Dialect, on: Platform): void {
  taskRoutes(app, on);
  projectRoutes(app, on);
  catalogRoutes(app, on);
  flavorRoutes(app, on);
  kubernetesOfferRoutes(app, on);
  priceListRoutes(app, on);
  partyRoutes(app, on);
  quotaRoutes(app, on);
  quotaListRoutes(app, on);
  limitRequestRoutes(app, on);
  loggingRoutes(app, dialect, on);
  if (dialect.legacy) olderLoggingHostRoutes(app, on);
  userActionRoutes(app, on);
  requestLogRoutes(app, on);
  subscriptionRoutes(app, on);
  amqpSubscriptionRoutes(app);
  taskCancellationRoutes(app, on);
  maintenanceRoutes(app, on);
}
