import type { Dialect } from '../../http/dialect.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { ddosRoutes } from './ddos/routes.ts';
import { floatingIpChangeRoutes, floatingIpRoutes } from './floating-ips/routes.ts';
import { portSecurityRoutes } from './interfaces/routes.ts';
import { ipRangeRoutes } from './ip-ranges/routes.ts';
import { externalAddressRoutes } from './networks/external/routes.ts';
import { networkRoutes } from './networks/routes.ts';
import { subnetRoutes } from './networks/subnets/routes.ts';
import { portRoutes } from './ports/routes.ts';
import { projectChangeRoutes } from './project-changes/routes.ts';
import { reservedFixedIpRoutes } from './reserved-fixed-ips/routes.ts';
import { routerRoutes } from './routers/routes.ts';
import { securityGroupRoutes } from './security-groups/routes.ts';

/** Registers the operations of the wing under one base address. */
export function registerNetworkRoutes(app: Api, dialect: Dialect, on: Platform): void {
  projectChangeRoutes(app, dialect, on);
  securityGroupRoutes(app, dialect, on);
  networkRoutes(app, dialect, on);
  subnetRoutes(app, dialect, on);
  routerRoutes(app, dialect, on);
  ipRangeRoutes(app, on);
  externalAddressRoutes(app, on);
  portRoutes(app, dialect, on);
  portSecurityRoutes(app, on);
  floatingIpRoutes(app, dialect, on);
  floatingIpChangeRoutes(app, dialect, on);
  reservedFixedIpRoutes(app, dialect, on);
  ddosRoutes(app, dialect, on);
}
