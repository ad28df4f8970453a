import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import { convertFloatingIp, updateFloatingIp, updateFloatingIpTags } from './changes.ts';
import { presentedFloatingIp } from './presenter.ts';
import { FLOATING_IP } from './routes.ts';
import {
  AssignFloatingIp,
  ConvertFloatingIp,
  FloatingIpAnswer,
  FloatingIpParams,
  UpdateFloatingIp,
  UpdateFloatingIpTags,
} from './schema.ts';
import { assignFloatingIp, getFloatingIp, unassignFloatingIp } from './service.ts';

const ONE = '/cloud/v1/floatingips/:project_id/:region_id/:floating_ip_id';
const ONE_V2 = '/cloud/v2/floatingips/:project_id/:region_id/:floating_ip_id';
const tags = ['Floating IPs'];

export function floatingIpChangeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { tags, params: FloatingIpParams });

  api.patch(ONE, 'updateFloatingIpTags', 'Update the tags of a floating IP immediately', {
    deprecated: true,
    body: UpdateFloatingIpTags,
    answer: FloatingIpAnswer,
    handler: async ({ scope, params, body }) => {
      const { floating_ip_id: id } = params;
      await updateFloatingIpTags(on, scope, id, body.tags);
      return presentedFloatingIp(await getFloatingIp(on, scope, id), scope);
    },
  });

  api.patch(ONE_V2, 'updateFloatingIp', 'Update a floating IP', {
    versioned: FLOATING_IP,
    description:
      'Assigns, reassigns or unassigns the floating IP and updates its tags. If nothing changes, returns no task, and under `/gcore` one that is FINISHED. Returns 409 while a task holds the floating IP, and if another floating IP is assigned to the address.',
    body: UpdateFloatingIp,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params, body }) => {
      const task = await updateFloatingIp(on, scope, params.floating_ip_id, body, dialect);
      return dialect.tasks(task === undefined ? [] : [task]);
    },
  });

  api.post(`${ONE}/assign`, 'assignFloatingIp', 'Assign a floating IP to a port', {
    description:
      'Takes effect immediately. If it is already assigned to this address, nothing changes. Returns 409 if it is assigned to another port, or another floating IP is assigned to the address.',
    body: AssignFloatingIp,
    answer: FloatingIpAnswer,
    handler: async ({ scope, params, body }) => {
      const { floating_ip_id: id } = params;
      await assignFloatingIp(on, scope, id, body);
      return presentedFloatingIp(await getFloatingIp(on, scope, id), scope);
    },
  });

  api.post(`${ONE}/unassign`, 'unassignFloatingIp', 'Unassign a floating IP', {
    description:
      "Takes effect immediately. The floating IP stays in the project. If it isn't assigned, nothing changes.",
    answer: FloatingIpAnswer,
    handler: async ({ scope, params }) => {
      const { floating_ip_id: id } = params;
      await unassignFloatingIp(on, scope, id);
      return presentedFloatingIp(await getFloatingIp(on, scope, id), scope);
    },
  });

  api.post(`${ONE}/convert`, 'convertFloatingIp', 'Convert a floating IP to a reserved fixed IP', {
    description:
      'The reserved fixed IP gets the same address; the ID of its port is in created_resources. Returns 409 while the floating IP is assigned and while a task holds it.',
    body: ConvertFloatingIp,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params }) =>
      dialect.tasks([await convertFloatingIp(on, scope, params.floating_ip_id)]),
  });
}
