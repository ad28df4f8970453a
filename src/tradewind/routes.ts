import type { Api } from '../http/server.ts';
import type { Platform } from '../platform.ts';
import { auditRoutes } from './audit/routes.ts';
import { deletionRequestRoutes } from './deletion-requests/routes.ts';
import { deletionRoutes } from './deletions/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { lookupRoutes } from './lookup/routes.ts';
import { permissionRoutes } from './permissions/routes.ts';
import { platformRoutes } from './platform/routes.ts';
import { reachabilityRoutes } from './reachability/routes.ts';
import { taskStepRoutes } from './task-steps/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** Registers its operations under one base address. */
export function registerTradewindRoutes(app: Api, on: Platform): void {
  eventRoutes(app, on);
  auditRoutes(app, on);
  taskStepRoutes(app, on);
  lookupRoutes(app, on);
  deletionRequestRoutes(app, on);
  webhookRoutes(app, on);
  deletionRoutes(app, on);
  reachabilityRoutes(app, on);
  permissionRoutes(app);
  platformRoutes(app, on);
}
