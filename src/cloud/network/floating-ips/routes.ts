import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { versionedIn } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { presentedFloatingIp } from './presenter.ts';
import { CreateFloatingIp, FloatingIpAnswer, FloatingIpParams, FreeFloatingIpList } from './schema.ts';
import { createFloatingIp, floatingIpDeletion, getFloatingIp, listFloatingIps } from './service.ts';

const BASE = '/cloud/v1/floatingips/:project_id/:region_id';
export const FLOATING_IP = versionedIn('floating_ips', 'floating_ip_id');
const tags = ['Floating IPs'];

export function floatingIpRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { tags, params: ProjectRegionParams });

  api.post(BASE, 'createFloatingIp', 'Create a floating IP', {
    description:
      'Allocates an address from the external network. Set port_id to assign it right away, or assign it later.',
    body: CreateFloatingIp,
    answer: dialect.tasksSchema,
    handler: async ({ scope, body }) => dialect.tasks([await createFloatingIp(on, scope, body)]),
  });

  api.get(
    '/cloud/v1/availablefloatingips/:project_id/:region_id',
    'listFreeFloatingIps',
    'List floating IPs that are assigned to no port',
    {
      description: 'The latest 1000, newest first.',
      deprecated: true,
      answer: FreeFloatingIpList,
      handler: async ({ scope }) =>
        presentedPage(await listFloatingIps(on, scope, { status: 'DOWN' }), (row) =>
          presentedFloatingIp(row, scope),
        ),
    },
  );

  api.get(`${BASE}/:floating_ip_id`, 'getFloatingIp', 'Get a floating IP', {
    versioned: FLOATING_IP,
    params: FloatingIpParams,
    answer: FloatingIpAnswer,
    handler: async ({ scope, params }) =>
      presentedFloatingIp(await getFloatingIp(on, scope, params.floating_ip_id), scope),
  });

  api.delete(`${BASE}/:floating_ip_id`, 'deleteFloatingIp', 'Delete a floating IP', {
    description: 'An assigned floating IP can be deleted, too.',
    params: FloatingIpParams,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, floatingIpDeletion, params.floating_ip_id)]),
  });
}
