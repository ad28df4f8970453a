import type { Api } from '../../http/server.ts';
import { ClientParams } from '../../lib/wire.ts';
import { PatchService, Service, ServiceArray, ServiceParams, UpdateService } from './schema.ts';
import type { ClientServices } from './service.ts';

const tags = ['Clients'];
const BASE = '/iam/clients/:clientId/services';
const ONE = `${BASE}/:serviceId`;

export function clientServiceRoutes(
  app: Api,
  { clientServices: services }: { clientServices: ClientServices },
): void {
  app.get(BASE, {
    config: { access: 'resell' },
    schema: {
      operationId: 'listClientServices',
      summary: 'List the services of a client',
      tags,
      params: ClientParams,
      response: { 200: ServiceArray },
    },
    handler: ({ principal, params }) => services.list(principal, params.clientId),
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
    handler: ({ principal, params }) => services.get(principal, params.clientId, params.serviceId),
  });

  app.put(ONE, {
    config: { access: 'resell' },
    schema: {
      operationId: 'updateClientService',
      summary: 'Switch a service of a client on or off',
      description:
        "CLOUD and STREAMING. Logins and API tokens of the client are refused there (403) while it is off; what the client has stays and goes on. The platform administrator's own account can't be shut out (409).",
      tags,
      params: ServiceParams,
      body: UpdateService,
      response: { 200: Service },
    },
    handler: ({ principal, params, body }) =>
      services.update(principal, params.clientId, params.serviceId, body),
  });

  app.patch(ONE, {
    config: { access: 'resell' },
    schema: {
      operationId: 'patchClientService',
      summary: 'Switch a service of a client on or off, in the older way',
      tags,
      deprecated: true,
      params: ServiceParams,
      body: PatchService,
      response: { 200: Service },
    },
    handler: ({ principal, params, body }) =>
      services.update(principal, params.clientId, params.serviceId, body),
  });
}
