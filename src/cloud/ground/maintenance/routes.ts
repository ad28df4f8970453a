import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import * as schema from './schema.ts';
import { beginMaintenance, endMaintenance, listMaintenances, MAINTENANCE_DUTY } from './service.ts';

const BASE = '/tradewind/v1/platform/maintenances';
const config = { platformDuty: MAINTENANCE_DUTY } as const;

export function maintenanceRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Platform'], access: 'resell', params: schema.MaintenanceParams });

  api.get(BASE, 'listMaintenances', 'See what is in maintenance, and whether it is quiet', {
    ...config,
    description: 'With how much of its infrastructure is still being changed. Only for the platform administrator.',
    answer: schema.Maintenances,
    handler: ({ principal }) => listMaintenances(on, principal),
  });

  api.post(BASE, 'beginMaintenance', 'Put a region or a backend into maintenance', {
    ...config,
    refuses: [409],
    description:
      'From now on, requests that make or change something there are refused with 503 and the reason; what removes something of its own is accepted, but not what takes a part from something that stays, such as a listener from a load balancer. What was begun goes on: when `drained` is true, nothing is going on. Machines run on. The region says `MAINTENANCE`, and what is there is not compared with what is wanted. Only for the platform administrator.',
    body: schema.NewMaintenance,
    status: 201,
    answer: schema.Maintenance,
    handler: async ({ principal, body }) => await beginMaintenance(on, principal, body),
  });

  api.delete(`${BASE}/:maintenance_id`, 'endMaintenance', 'End a maintenance', {
    ...config,
    description: 'Requests are accepted again at once. Only for the platform administrator.',
    handler: ({ principal, params }) => endMaintenance(on, principal, params.maintenance_id),
  });
}
