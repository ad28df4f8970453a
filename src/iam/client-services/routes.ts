import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { ClientParams } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { PatchService, Service, ServiceArray, ServiceParams, UpdateService } from './schema.ts';
import { getClientService, listClientServices, updateClientService } from './service.ts';

const tags = ['Clients'];
const BASE = '/iam/clients/:clientId/services';
const ONE = `${BASE}/:serviceId`;

export function clientServiceRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: ServiceParams, access: 'resell' });

  api.get(BASE, 'listClientServices', 'List the services of a client', {
    params: ClientParams,
    answer: ServiceArray,
    handler: ({ principal, params }) => listClientServices(on, principal, params.clientId),
  });

  api.get(ONE, 'getClientService', 'Get a service of a client', {
    answer: Service,
    handler: ({ principal, params }) => getClientService(on, principal, params.clientId, params.serviceId),
  });

  api.put(ONE, 'updateClientService', 'Switch a service of a client on or off', {
    description:
      "CLOUD or STREAMING. While a service is off, it refuses the client's logins and API tokens (403); the client's resources stay and keep running. The services of the platform administrator's own account can't be switched off (409).",
    body: UpdateService,
    answer: Service,
    handler: ({ principal, params, body }) =>
      updateClientService(on, principal, params.clientId, params.serviceId, body),
  });

  api.patch(ONE, 'patchClientService', 'Switch a service of a client on or off (older form)', {
    deprecated: true,
    body: PatchService,
    answer: Service,
    handler: ({ principal, params, body }) =>
      updateClientService(on, principal, params.clientId, params.serviceId, body),
  });
}
