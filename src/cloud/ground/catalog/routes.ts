import type { Api } from '../../../http/server.ts';
import { regionRoutes } from './region-routes.ts';
import { regionServiceRoutes } from './region-service-routes.ts';
import type { Catalog } from './service.ts';

/** Routes that only read the catalogue. Features are not among them, because they belong to the account area. */
export function catalogRoutes(app: Api, on: { catalog: Catalog }): void {
  regionRoutes(app, on);
  regionServiceRoutes(app, on);
}
