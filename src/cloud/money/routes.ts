import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { budgetRoutes } from './budgets/routes.ts';
import { costRoutes } from './costs/routes.ts';
import { statementRoutes } from './costs/statements/routes.ts';
import { invoiceRoutes } from './invoices/routes.ts';
import * as routes from './pricing/routes.ts';

/** Registers its operations under one base address. */
export function registerMoneyRoutes(app: Api, on: Platform): void {
  routes.pricingRoutes(app, on);
  routes.clusterPriceRoutes(app, on);
  routes.loadBalancerPriceRoutes(app, on);
  routes.itemPriceRoutes(app, on);
  routes.instancePriceRoutes(app, on);
  costRoutes(app, on);
  statementRoutes(app, on);
  invoiceRoutes(app, on);
  budgetRoutes(app, on);
}
