import type { Dialect } from '../../../http/dialect.ts';
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
  app.patch(ONE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updateFloatingIpTags',
      summary: 'Update the tags of a floating IP immediately',
      deprecated: true,
      tags,
      params: FloatingIpParams,
      body: UpdateFloatingIpTags,
      response: { 200: FloatingIpAnswer },
    },
    handler: async ({ scope, params, body }) => {
      const { floating_ip_id: id } = params;
      await updateFloatingIpTags(on, scope, id, body.tags);
      return presentedFloatingIp(await getFloatingIp(on, scope, id), scope);
    },
  });

  app.patch(ONE_V2, {
    config: { access: 'operate', versioned: FLOATING_IP },
    schema: {
      operationId: 'updateFloatingIp',
      summary: 'Update a floating IP',
      description:
        'Assigns, reassigns or unassigns the floating IP and updates its tags. If nothing changes, returns no task, and under `/gcore` one that is FINISHED. Returns 409 while a task holds the floating IP, and if another floating IP is assigned to the address.',
      tags,
      params: FloatingIpParams,
      body: UpdateFloatingIp,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) => {
      const task = await updateFloatingIp(on, scope, params.floating_ip_id, body, dialect);
      return dialect.tasks(task === undefined ? [] : [task]);
    },
  });

  app.post(`${ONE}/assign`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'assignFloatingIp',
      summary: 'Assign a floating IP to a port',
      description:
        'Takes effect immediately. If it is already assigned to this address, nothing changes. Returns 409 if it is assigned to another port, or another floating IP is assigned to the address.',
      tags,
      params: FloatingIpParams,
      body: AssignFloatingIp,
      response: { 200: FloatingIpAnswer },
    },
    handler: async ({ scope, params, body }) => {
      const { floating_ip_id: id } = params;
      await assignFloatingIp(on, scope, id, body);
      return presentedFloatingIp(await getFloatingIp(on, scope, id), scope);
    },
  });

  app.post(`${ONE}/unassign`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'unassignFloatingIp',
      summary: 'Unassign a floating IP',
      description:
        "Takes effect immediately. The floating IP stays in the project. If it isn't assigned, nothing changes.",
      tags,
      params: FloatingIpParams,
      response: { 200: FloatingIpAnswer },
    },
    handler: async ({ scope, params }) => {
      const { floating_ip_id: id } = params;
      await unassignFloatingIp(on, scope, id);
      return presentedFloatingIp(await getFloatingIp(on, scope, id), scope);
    },
  });

  app.post(`${ONE}/convert`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'convertFloatingIp',
      summary: 'Convert a floating IP to a reserved fixed IP',
      description:
        'The reserved fixed IP gets the same address; the ID of its port is in created_resources. Returns 409 while the floating IP is assigned and while a task holds it.',
      tags,
      params: FloatingIpParams,
      body: ConvertFloatingIp,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params }) =>
      dialect.tasks([await convertFloatingIp(on, scope, params.floating_ip_id)]),
  });
}
