import type { Dialect } from '../../http/dialect.ts';
import type { Api } from '../../http/server.ts';
import { presentedFloatingIp } from './answers.ts';
import type { FloatingIpChanges } from './changes.ts';
import { FLOATING_IP } from './routes.ts';
import {
  AssignFloatingIp,
  FloatingIpAnswer,
  FloatingIpParams,
  UpdateFloatingIp,
  UpdateFloatingIpTags,
} from './schema.ts';
import type { FloatingIps } from './service.ts';

const ONE = '/cloud/v1/floatingips/:project_id/:region_id/:floating_ip_id';
const ONE_V2 = '/cloud/v2/floatingips/:project_id/:region_id/:floating_ip_id';
const tags = ['Floating IPs'];

export function floatingIpChangeRoutes(
  app: Api,
  dialect: Dialect,
  services: { floatingIps: FloatingIps; floatingIpChanges: FloatingIpChanges },
): void {
  const { floatingIps, floatingIpChanges } = services;

  app.patch(ONE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updateFloatingIpTags',
      summary: 'Change the tags of a floating IP at once',
      deprecated: true,
      tags,
      params: FloatingIpParams,
      body: UpdateFloatingIpTags,
      response: { 200: FloatingIpAnswer },
    },
    handler: async ({ scope, params, body }) => {
      const { floating_ip_id: id } = params;
      await floatingIpChanges.updateTags(scope, id, body.tags);
      return presentedFloatingIp(await floatingIps.get(scope, id), scope);
    },
  });

  app.patch(ONE_V2, {
    config: { access: 'operate', versioned: FLOATING_IP },
    schema: {
      operationId: 'updateFloatingIp',
      summary: 'Lead a floating IP elsewhere, change its tags',
      description:
        'Also one that leads to a port already. Answers no task when nothing has to change. 409 while a task holds it, and when another floating IP leads to the address.',
      tags,
      params: FloatingIpParams,
      body: UpdateFloatingIp,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) => {
      const task = await floatingIpChanges.update(scope, params.floating_ip_id, body);
      return dialect.tasks(task === undefined ? [] : [task]);
    },
  });

  app.post(`${ONE}/assign`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'assignFloatingIp',
      summary: 'Lead a floating IP to a port',
      description:
        'At once. 409 when it leads to another port already, or another floating IP leads to the address; there already, nothing changes.',
      tags,
      params: FloatingIpParams,
      body: AssignFloatingIp,
      response: { 200: FloatingIpAnswer },
    },
    handler: async ({ scope, params, body }) => {
      const { floating_ip_id: id } = params;
      await floatingIps.assign(scope, id, body);
      return presentedFloatingIp(await floatingIps.get(scope, id), scope);
    },
  });

  app.post(`${ONE}/unassign`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'unassignFloatingIp',
      summary: 'Take a floating IP off its port',
      description: 'At once; it is kept. One that leads nowhere stays so.',
      tags,
      params: FloatingIpParams,
      response: { 200: FloatingIpAnswer },
    },
    handler: async ({ scope, params }) => {
      const { floating_ip_id: id } = params;
      await floatingIps.unassign(scope, id);
      return presentedFloatingIp(await floatingIps.get(scope, id), scope);
    },
  });
}
