import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { versionedIn } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { PortOfNetworkList } from '../ports/schema.ts';
import { createNetwork, networkDeletion, updateNetwork, updateNetworkNow } from './changes.ts';
import { CreateNetwork, UpdateNetwork } from './input-schema.ts';
import { presentedNetwork, presentedSubnet } from './presenter.ts';
import {
  AvailableNetworkList,
  AvailableNetworkQuery,
  NetworkAnswer,
  NetworkList,
  NetworkListQuery,
  NetworkParams,
} from './schema.ts';
import { getNetwork, listAvailableNetworks, listNetworks, listPortsOfNetwork } from './service.ts';

const NETWORKS = '/cloud/v1/networks/:project_id/:region_id';
const NETWORKS_V2 = '/cloud/v2/networks/:project_id/:region_id';
const NETWORK = versionedIn('networks', 'network_id');
const tags = ['Networks'];

export function networkRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.get(NETWORKS, {
    config: { access: 'read' },
    schema: {
      operationId: 'listNetworks',
      summary: 'List networks',
      tags,
      params: ProjectRegionParams,
      querystring: NetworkListQuery,
      response: { 200: NetworkList },
    },
    handler: async ({ scope, query }) =>
      presentedPage(await listNetworks(on, scope, query), (row) => presentedNetwork(row, scope)),
  });

  app.get('/cloud/v1/availablenetworks/:project_id/:region_id', {
    config: { access: 'read' },
    schema: {
      operationId: 'listAvailableNetworks',
      summary: 'List networks of the project and the platform with their subnets',
      deprecated: true,
      tags,
      params: ProjectRegionParams,
      querystring: AvailableNetworkQuery,
      response: { 200: AvailableNetworkList },
    },
    handler: async ({ scope, query }) =>
      presentedPage(await listAvailableNetworks(on, scope, query), ({ network, subnets }) => ({
        ...presentedNetwork(network, scope),
        subnets: subnets.map((subnet) => presentedSubnet(subnet, scope)),
      })),
  });

  app.get(`${NETWORKS}/:network_id`, {
    config: { access: 'read', versioned: NETWORK },
    schema: {
      operationId: 'getNetwork',
      summary: 'Get a network',
      tags,
      params: NetworkParams,
      response: { 200: NetworkAnswer },
    },
    handler: async ({ scope, params }) =>
      presentedNetwork(await getNetwork(on, scope, params.network_id), scope),
  });

  app.post(NETWORKS, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createNetwork',
      summary: 'Create a network',
      description:
        'Starts one task. When it is finished, its created_resources has the network in networks and its router, if there is one, in routers. Returns 409 if the external network has no address left for the router.',
      tags,
      params: ProjectRegionParams,
      body: CreateNetwork,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, body }) => dialect.tasks([await createNetwork(on, scope, body)]),
  });

  app.patch(`${NETWORKS}/:network_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updateNetworkNow',
      summary: 'Update a network immediately',
      deprecated: true,
      tags,
      params: NetworkParams,
      body: UpdateNetwork,
      response: { 200: NetworkAnswer },
    },
    handler: async ({ scope, params, body }) => {
      await updateNetworkNow(on, scope, params.network_id, body);
      return presentedNetwork(await getNetwork(on, scope, params.network_id), scope);
    },
  });

  app.patch(`${NETWORKS_V2}/:network_id`, {
    config: { access: 'operate', versioned: NETWORK },
    schema: {
      operationId: 'updateNetwork',
      summary: 'Update a network',
      description:
        'If nothing changes, returns no task, and under `/gcore` one that is FINISHED. Returns 409 while another task holds the network.',
      tags,
      params: NetworkParams,
      body: UpdateNetwork,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) => {
      const task = await updateNetwork(on, scope, params.network_id, body, dialect);
      return dialect.tasks(task === undefined ? [] : [task]);
    },
  });

  app.delete(`${NETWORKS}/:network_id`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteNetwork',
      summary: 'Delete a network',
      description:
        'Deletes the network, its subnets, and the router that was created with it, unless that has subnets of other networks. Returns 409 for the default network, and if ports, clusters, file shares or load balancers that stay use the network. It waits for those that are being deleted.',
      tags,
      params: NetworkParams,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, networkDeletion, params.network_id)]),
  });

  app.get(`${NETWORKS}/:network_id/ports`, {
    config: { access: 'read' },
    schema: {
      operationId: 'listPortsOfNetwork',
      summary: 'List the ports in a network',
      description:
        "Lists ports of the project's instances. A platform network also has ports of other projects, which are not listed.",
      tags: ['Ports'],
      params: NetworkParams,
      response: { 200: PortOfNetworkList },
    },
    handler: async ({ scope, params }) => {
      const results = await listPortsOfNetwork(on, scope, params.network_id);
      return { count: results.length, results };
    },
  });
}
