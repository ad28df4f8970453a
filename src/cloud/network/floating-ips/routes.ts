import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { versioned } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { tagRoutes } from '../../ground/metadata/routes.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { convertFloatingIp, floatingIpTags, updateFloatingIp, updateFloatingIpTags } from './changes.ts';
import { presentedFloatingIp } from './presenter.ts';
import * as schema from './schema.ts';
import * as floatingIps from './service.ts';

const BASE = '/cloud/v1/floatingips/:project_id/:region_id';
export const FLOATING_IP = versioned('floating_ip');
const tags = ['Floating IPs'];

export function floatingIpRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: ProjectRegionParams });

  api.post(BASE, 'createFloatingIp', 'Create a floating IP', {
    description:
      'Allocates an address from the external network. Set port_id to assign it right away, or assign it later.',
    body: schema.CreateFloatingIp,
    task: ({ scope, body }) => floatingIps.createFloatingIp(on, scope, body),
  });

  api.get(
    '/cloud/v1/availablefloatingips/:project_id/:region_id',
    'listFreeFloatingIps',
    'List floating IPs that are assigned to no port',
    {
      description: 'The latest 1000, newest first.',
      deprecated: true,
      answer: schema.FreeFloatingIpList,
      handler: async ({ scope }) =>
        presentedPage(await floatingIps.listFloatingIps(on, scope, { status: 'DOWN' }), (row) =>
          presentedFloatingIp(row, scope),
        ),
    },
  );

  api.get(`${BASE}/:floating_ip_id`, 'getFloatingIp', 'Get a floating IP', {
    versioned: FLOATING_IP,
    params: schema.FloatingIpParams,
    answer: schema.FloatingIpAnswer,
    handler: async ({ scope, params }) =>
      presentedFloatingIp(await floatingIps.getFloatingIp(on, scope, params.floating_ip_id), scope),
  });

  api.delete(`${BASE}/:floating_ip_id`, 'deleteFloatingIp', 'Delete a floating IP', {
    description: 'An assigned floating IP can be deleted, too.',
    params: schema.FloatingIpParams,
    task: ({ scope, params }) => deleteOrWait(on, scope, floatingIps.floatingIpDeletion, params.floating_ip_id),
  });
}

const ONE = '/cloud/v1/floatingips/:project_id/:region_id/:floating_ip_id';
const ONE_V2 = '/cloud/v2/floatingips/:project_id/:region_id/:floating_ip_id';

export function floatingIpChangeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  tagRoutes(app, on, 'floating_ip', floatingIpTags);
  const api = operations(app, { dialect, tags, params: schema.FloatingIpParams });

  api.patch(ONE, 'updateFloatingIpTags', 'Update the tags of a floating IP immediately', {
    deprecated: true,
    body: schema.UpdateFloatingIpTags,
    answer: schema.FloatingIpAnswer,
    handler: async ({ scope, params, body }) => {
      const { floating_ip_id: id } = params;
      await updateFloatingIpTags(on, scope, id, body.tags);
      return presentedFloatingIp(await floatingIps.getFloatingIp(on, scope, id), scope);
    },
  });

  api.patch(ONE_V2, 'updateFloatingIp', 'Update a floating IP', {
    versioned: FLOATING_IP,
    description:
      'Assigns, reassigns or unassigns the floating IP and updates its tags. If nothing changes, returns no task, and under `/gcore` one that is FINISHED. Returns 409 while a task holds the floating IP, and if another floating IP is assigned to the address.',
    body: schema.UpdateFloatingIp,
    task: ({ scope, params, body }) => updateFloatingIp(on, scope, params.floating_ip_id, body, dialect),
  });

  api.post(`${ONE}/assign`, 'assignFloatingIp', 'Assign a floating IP to a port', {
    description:
      'Takes effect immediately. If it is already assigned to this address, nothing changes. Returns 409 if it is assigned to another port, or another floating IP is assigned to the address.',
    body: schema.AssignFloatingIp,
    answer: schema.FloatingIpAnswer,
    handler: async ({ scope, params, body }) => {
      const { floating_ip_id: id } = params;
      await floatingIps.assignFloatingIp(on, scope, id, body);
      return presentedFloatingIp(await floatingIps.getFloatingIp(on, scope, id), scope);
    },
  });

  api.post(`${ONE}/unassign`, 'unassignFloatingIp', 'Unassign a floating IP', {
    description:
      "Takes effect immediately. The floating IP stays in the project. If it isn't assigned, nothing changes.",
    answer: schema.FloatingIpAnswer,
    handler: async ({ scope, params }) => {
      const { floating_ip_id: id } = params;
      await floatingIps.unassignFloatingIp(on, scope, id);
      return presentedFloatingIp(await floatingIps.getFloatingIp(on, scope, id), scope);
    },
  });

  api.post(`${ONE}/convert`, 'convertFloatingIp', 'Convert a floating IP to a reserved fixed IP', {
    description:
      'The reserved fixed IP gets the same address; the ID of its port is in created_resources. Returns 409 while the floating IP is assigned and while a task holds it.',
    body: schema.ConvertFloatingIp,
    task: ({ scope, params }) => convertFloatingIp(on, scope, params.floating_ip_id),
  });
}
