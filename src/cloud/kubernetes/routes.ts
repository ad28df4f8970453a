import type { Dialect } from '../../http/dialect.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { nodeRoutes } from './clusters/nodes/routes.ts';
import { clusterRoutes } from './clusters/routes.ts';

/** Registers the operations of the wing under one base address. */
export function registerKubernetesRoutes(app: Api, dialect: Dialect, on: Platform): void {
  clusterRoutes(app, dialect, on);
  nodeRoutes(app, on);
}
