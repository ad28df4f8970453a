import type { Api } from '../../http/server.ts';
import type { Projects } from '../projects/service.ts';
import type { Catalog } from './catalog.ts';
import { flavorRoutes } from './flavor-routes.ts';
import { imageRoutes } from './image-routes.ts';
import { kubernetesOfferRoutes } from './kubernetes-offer-routes.ts';
import { regionRoutes } from './region-routes.ts';
import { regionServiceRoutes } from './region-service-routes.ts';

/** Everything that is read from the catalogue alone, but for the features, which belong to the account area. */
export function catalogRoutes(app: Api, deps: { catalog: Catalog; projects: Projects }): void {
  regionRoutes(app, deps);
  flavorRoutes(app, deps);
  imageRoutes(app, deps);
  kubernetesOfferRoutes(app, deps);
  regionServiceRoutes(app, deps);
}
