import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { MetricsQuestion } from '../../../lib/node-settings.ts';
import { presentedPage } from '../../../lib/page.ts';
import { offsetTimestamp } from '../../../lib/time.ts';
import { versioned } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { RouterMetricsList } from './metrics.ts';
import * as schema from './schema.ts';
import * as routers from './service.ts';
import type { RouterRow } from './store.ts';

export function presentedRouter(row: RouterRow, scope: Scope): schema.RouterAnswer {
  return {
    status: row.task_id === row.creator_task_id ? 'ALLOCATING' : 'ACTIVE',
    ...row,
    distributed: false,
    external_gateway_info:
      row.gateway_network_id === null
        ? null
        : {
            network_id: row.gateway_network_id,
            enable_snat: row.enable_snat,
            external_fixed_ips: row.outside.map(assigned),
          },
    interfaces: row.interfaces.map((one) => ({
      port_id: one.port_id,
      network_id: one.network_id,
      mac_address: one.mac_address,
      ip_assignments: [assigned(one)],
    })),
    region: scope.region.display_name,
    created_at: offsetTimestamp(row.created_at),
    updated_at: offsetTimestamp(row.updated_at),
  };
}

const assigned = ({ address, subnet_id }: { address: string; subnet_id: string }) => ({
  ip_address: address,
  subnet_id,
});

const ROUTERS = '/cloud/v1/routers/:project_id/:region_id';
const ROUTERS_V2 = '/cloud/v2/routers/:project_id/:region_id';
const ROUTER = versioned('router');
const tags = ['Routers'];

export function routerRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: schema.RouterParams });

  api.get(ROUTERS, 'listRouters', 'List routers', {
    description: 'Newest first.',
    params: ProjectRegionParams,
    query: schema.RouterListQuery,
    answer: schema.RouterList,
    handler: async ({ scope, query }) =>
      presentedPage(await routers.listRouters(on, scope, query), (row) => presentedRouter(row, scope)),
  });

  api.get(`${ROUTERS}/:router_id`, 'getRouter', 'Get a router', {
    versioned: ROUTER,
    answer: schema.RouterAnswer,
    handler: async ({ scope, params }) => presentedRouter(await routers.getRouter(on, scope, params.router_id), scope),
  });

  api.post(`${ROUTERS}/:router_id/metrics`, 'getRouterMetrics', 'Get the traffic of a router', {
    access: 'read',
    onlyAsks: true,
    description:
      'By interface, the external gateway first. Up to 60 points each. The simulated infrastructure has no traffic, so routers are always idle.',
    body: MetricsQuestion,
    answer: RouterMetricsList,
    handler: async ({ scope, params, body }) => {
      const results = await routers.routerMetrics(on, scope, params.router_id, body);
      return { count: results.length, results };
    },
  });

  api.post(ROUTERS, 'createRouter', 'Create a router', {
    description:
      'Starts one task. When it is finished, its created_resources has the router in routers. In a subnet whose gateway address another router has, it takes a free one. Returns 409 if subnets overlap each other or the external network, if one has no address left, while a task holds one, and if the external network has no address left.',
    params: ProjectRegionParams,
    body: schema.CreateRouter,
    task: ({ scope, body }) => routers.createRouter(on, scope, body),
  });

  api.patch(`${ROUTERS}/:router_id`, 'updateRouterNow', 'Update a router immediately', {
    description:
      'Omitted fields and null keep their values, but null removes the external gateway. Returns 409 while a task holds the router, and if floating IPs need the gateway.',
    deprecated: true,
    body: schema.UpdateRouterNow,
    answer: schema.RouterAnswer,
    handler: async ({ scope, params, body }) => {
      await routers.updateRouterNow(on, scope, params.router_id, body);
      return presentedRouter(await routers.getRouter(on, scope, params.router_id), scope);
    },
  });

  api.patch(`${ROUTERS_V2}/:router_id`, 'updateRouter', 'Update a router', {
    versioned: ROUTER,
    description:
      'If nothing changes, returns no task, and under `/gcore` one that is FINISHED. Returns 409 while a task holds the router, and if floating IPs need the gateway.',
    body: schema.UpdateRouter,
    task: ({ scope, params, body }) => routers.updateRouter(on, scope, params.router_id, body, dialect),
  });

  api.delete(`${ROUTERS}/:router_id`, 'deleteRouter', 'Delete a router', {
    description:
      'Also detaches its subnets. Returns 409 while floating IPs need the router to lead out of their subnet.',
    task: ({ scope, params }) => deleteOrWait(on, scope, routers.routerDeletion, params.router_id),
  });

  api.post(`${ROUTERS}/:router_id/attach`, 'attachSubnetToRouter', 'Attach a subnet to a router', {
    description:
      'Takes effect immediately. Returns 409 if the router is already attached to the subnet or to one that overlaps it, if the address is taken, and while a task holds one of them.',
    body: schema.AttachSubnet,
    answer: schema.RouterAnswer,
    handler: async ({ scope, params, body }) => {
      await routers.attachSubnet(on, scope, params.router_id, body);
      return presentedRouter(await routers.getRouter(on, scope, params.router_id), scope);
    },
  });

  api.post(`${ROUTERS}/:router_id/detach`, 'detachSubnetFromRouter', 'Detach a subnet from a router', {
    description:
      'Takes effect immediately. Returns 409 while static routes go through the subnet, or floating IPs need the router there.',
    body: schema.DetachSubnet,
    answer: schema.RouterAnswer,
    handler: async ({ scope, params, body }) => {
      await routers.detachSubnet(on, scope, params.router_id, body.subnet_id);
      return presentedRouter(await routers.getRouter(on, scope, params.router_id), scope);
    },
  });
}
