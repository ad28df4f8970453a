import type { Offer } from '../../../backends/contract/offer.ts';
import type { Api } from '../../../http/server.ts';
import type { OffersAsked } from '../prices/service.ts';
import { flavorRoutes } from './flavor-routes.ts';
import { kubernetesOfferRoutes } from './kubernetes-offer-routes.ts';
import { regionRoutes } from './region-routes.ts';
import { regionServiceRoutes } from './region-service-routes.ts';
import type { Catalog } from './service.ts';

/** Routes that only read the catalogue. Features are not among them, because they belong to the account area. */
export function catalogRoutes(
  app: Api,
  deps: { catalog: Catalog; offerPrices: OffersAsked; backends: Offer },
): void {
  regionRoutes(app, deps);
  flavorRoutes(app, deps);
  kubernetesOfferRoutes(app, deps);
  regionServiceRoutes(app, deps);
}
