import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { costRoutes } from './costs/routes.ts';
import { statementRoutes } from './costs/statements/routes.ts';
import {
  clusterPriceRoutes,
  instancePriceRoutes,
  itemPriceRoutes,
  loadBalancerPriceRoutes,
  pricingRoutes,
} from './pricing/routes.ts';

/** Registers its operations under one base address. */
export function registerMoneyRoutes(app: Api, on: Platform): void {
  pricingRoutes(app, on);
  clusterPriceRoutes(app, on);
  loadBalancerPriceRoutes(app, on);
  itemPriceRoutes(app, on);
  instancePriceRoutes(app, on);
  costRoutes(app, on);
  statementRoutes(app, on);
}
