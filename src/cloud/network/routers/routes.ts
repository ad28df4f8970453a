import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import { MetricsQuestion } from '../../../lib/idle-times.ts';
import { presentedPage } from '../../../lib/page.ts';
import { versionedIn } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { RouterMetricsList } from './metrics.ts';
import { presentedRouter } from './presenter.ts';
import {
  AttachSubnet,
  CreateRouter,
  DetachSubnet,
  RouterAnswer,
  RouterList,
  RouterListQuery,
  RouterParams,
  UpdateRouter,
  UpdateRouterNow,
} from './schema.ts';
import {
  attachSubnet,
  createRouter,
  detachSubnet,
  getRouter,
  listRouters,
  routerDeletion,
  routerMetrics,
  updateRouter,
  updateRouterNow,
} from './service.ts';

const ROUTERS = '/cloud/v1/routers/:project_id/:region_id';
const ROUTERS_V2 = '/cloud/v2/routers/:project_id/:region_id';
const ROUTER = versionedIn('routers', 'router_id');
const tags = ['Routers'];

export function routerRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.get(ROUTERS, {
    config: { access: 'read' },
    schema: {
      operationId: 'listRouters',
      summary: 'List routers',
      description: 'Newest first.',
      tags,
      params: ProjectRegionParams,
      querystring: RouterListQuery,
      response: { 200: RouterList },
    },
    handler: async ({ scope, query }) =>
      presentedPage(await listRouters(on, scope, query), (row) => presentedRouter(row, scope)),
  });

  app.get(`${ROUTERS}/:router_id`, {
    config: { access: 'read', versioned: ROUTER },
    schema: {
      operationId: 'getRouter',
      summary: 'Get a router',
      tags,
      params: RouterParams,
      response: { 200: RouterAnswer },
    },
    handler: async ({ scope, params }) =>
      presentedRouter(await getRouter(on, scope, params.router_id), scope),
  });

  app.post(`${ROUTERS}/:router_id/metrics`, {
    config: { access: 'read', onlyAsks: true },
    schema: {
      operationId: 'getRouterMetrics',
      summary: 'Get the traffic of a router',
      description:
        'By interface, the external gateway first. Up to 60 points each. The simulated infrastructure has no traffic, so routers are always idle.',
      tags,
      params: RouterParams,
      body: MetricsQuestion,
      response: { 200: RouterMetricsList },
    },
    handler: async ({ scope, params, body }) => {
      const results = await routerMetrics(on, scope, params.router_id, body);
      return { count: results.length, results };
    },
  });

  app.post(ROUTERS, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createRouter',
      summary: 'Create a router',
      description:
        'Starts one task. When it is finished, its created_resources has the router in routers. In a subnet whose gateway address another router has, it takes a free one. Returns 409 if subnets overlap each other or the external network, if one has no address left, while a task holds one, and if the external network has no address left.',
      tags,
      params: ProjectRegionParams,
      body: CreateRouter,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, body }) => dialect.tasks([await createRouter(on, scope, body)]),
  });

  app.patch(`${ROUTERS}/:router_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updateRouterNow',
      summary: 'Update a router immediately',
      description:
        'Omitted fields and null keep their values, but null removes the external gateway. Returns 409 while a task holds the router, and if floating IPs need the gateway.',
      deprecated: true,
      tags,
      params: RouterParams,
      body: UpdateRouterNow,
      response: { 200: RouterAnswer },
    },
    handler: async ({ scope, params, body }) => {
      await updateRouterNow(on, scope, params.router_id, body);
      return presentedRouter(await getRouter(on, scope, params.router_id), scope);
    },
  });

  app.patch(`${ROUTERS_V2}/:router_id`, {
    config: { access: 'operate', versioned: ROUTER },
    schema: {
      operationId: 'updateRouter',
      summary: 'Update a router',
      description:
        'If nothing changes, returns no task, and under `/gcore` one that is FINISHED. Returns 409 while a task holds the router, and if floating IPs need the gateway.',
      tags,
      params: RouterParams,
      body: UpdateRouter,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) => {
      const task = await updateRouter(on, scope, params.router_id, body, dialect);
      return dialect.tasks(task === undefined ? [] : [task]);
    },
  });

  app.delete(`${ROUTERS}/:router_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteRouter',
      summary: 'Delete a router',
      description:
        'Also detaches its subnets. Returns 409 while floating IPs need the router to lead out of their subnet.',
      tags,
      params: RouterParams,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, routerDeletion, params.router_id)]),
  });

  app.post(`${ROUTERS}/:router_id/attach`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'attachSubnetToRouter',
      summary: 'Attach a subnet to a router',
      description:
        'Takes effect immediately. Returns 409 if the router is already attached to the subnet or to one that overlaps it, if the address is taken, and while a task holds one of them.',
      tags,
      params: RouterParams,
      body: AttachSubnet,
      response: { 200: RouterAnswer },
    },
    handler: async ({ scope, params, body }) => {
      await attachSubnet(on, scope, params.router_id, body);
      return presentedRouter(await getRouter(on, scope, params.router_id), scope);
    },
  });

  app.post(`${ROUTERS}/:router_id/detach`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'detachSubnetFromRouter',
      summary: 'Detach a subnet from a router',
      description:
        'Takes effect immediately. Returns 409 while static routes go through the subnet, or floating IPs need the router there.',
      tags,
      params: RouterParams,
      body: DetachSubnet,
      response: { 200: RouterAnswer },
    },
    handler: async ({ scope, params, body }) => {
      await detachSubnet(on, scope, params.router_id, body.subnet_id);
      return presentedRouter(await getRouter(on, scope, params.router_id), scope);
    },
  });
}
