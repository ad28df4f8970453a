import type { Api } from '../../http/server.ts';
import { ClientParams } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { PatchService, Service, ServiceArray, ServiceParams, UpdateService } from './schema.ts';
import { getClientService, listClientServices, updateClientService } from './service.ts';

const tags = ['Clients'];
const BASE = '/iam/clients/:clientId/services';
const ONE = `${BASE}/:serviceId`;

export function clientServiceRoutes(app: Api, on: Platform): void {
  app.get(BASE, {
    config: { access: 'resell' },
    schema: {
      operationId: 'listClientServices',
      summary: 'List the services of a client',
      tags,
      params: ClientParams,
      response: { 200: ServiceArray },
    },
    handler: ({ principal, params }) => listClientServices(on, principal, params.clientId),
  });

  app.get(ONE, {
    config: { access: 'resell' },
    schema: {
      operationId: 'getClientService',
      summary: 'Get a service of a client',
      tags,
      params: ServiceParams,
      response: { 200: Service },
    },
    handler: ({ principal, params }) => getClientService(on, principal, params.clientId, params.serviceId),
  });

  app.put(ONE, {
    config: { access: 'resell' },
    schema: {
      operationId: 'updateClientService',
      summary: 'Switch a service of a client on or off',
      description:
        "CLOUD or STREAMING. While a service is off, it refuses the client's logins and API tokens (403); the client's resources stay and keep running. The services of the platform administrator's own account can't be switched off (409).",
      tags,
      params: ServiceParams,
      body: UpdateService,
      response: { 200: Service },
    },
    handler: ({ principal, params, body }) =>
      updateClientService(on, principal, params.clientId, params.serviceId, body),
  });

  app.patch(ONE, {
    config: { access: 'resell' },
    schema: {
      operationId: 'patchClientService',
      summary: 'Switch a service of a client on or off (older form)',
      tags,
      deprecated: true,
      params: ServiceParams,
      body: PatchService,
      response: { 200: Service },
    },
    handler: ({ principal, params, body }) =>
      updateClientService(on, principal, params.clientId, params.serviceId, body),
  });
}
