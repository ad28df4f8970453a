import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { versioned } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { tagRoutes } from '../../ground/metadata/routes.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { PortOfNetworkList } from '../ports/schema.ts';
import { createNetwork, networkDeletion, networkTags, updateNetwork, updateNetworkNow } from './changes.ts';
import { presentedNetwork, presentedSubnet } from './presenter.ts';
import * as schema from './schema.ts';
import { getNetwork, listAvailableNetworks, listNetworks, listPortsOfNetwork } from './service.ts';

const NETWORKS = '/cloud/v1/networks/:project_id/:region_id';
const NETWORKS_V2 = '/cloud/v2/networks/:project_id/:region_id';
const NETWORK = versioned('network');
const tags = ['Networks'];

export function networkRoutes(app: Api, dialect: Dialect, on: Platform): void {
  tagRoutes(app, on, 'network', networkTags);
  const api = operations(app, { dialect, tags, params: schema.NetworkParams });

  api.get(NETWORKS, 'listNetworks', 'List networks', {
    params: ProjectRegionParams,
    query: schema.NetworkListQuery,
    answer: schema.NetworkList,
    handler: async ({ scope, query }) =>
      presentedPage(await listNetworks(on, scope, query), (row) => presentedNetwork(row, scope)),
  });

  api.get(
    '/cloud/v1/availablenetworks/:project_id/:region_id',
    'listAvailableNetworks',
    'List networks of the project and the platform with their subnets',
    {
      deprecated: true,
      params: ProjectRegionParams,
      query: schema.AvailableNetworkQuery,
      answer: schema.AvailableNetworkList,
      handler: async ({ scope, query }) =>
        presentedPage(await listAvailableNetworks(on, scope, query), ({ network, subnets }) => ({
          ...presentedNetwork(network, scope),
          subnets: subnets.map((subnet) => presentedSubnet(subnet, scope)),
        })),
    },
  );

  api.get(`${NETWORKS}/:network_id`, 'getNetwork', 'Get a network', {
    versioned: NETWORK,
    answer: schema.NetworkAnswer,
    handler: async ({ scope, params }) => presentedNetwork(await getNetwork(on, scope, params.network_id), scope),
  });

  api.post(NETWORKS, 'createNetwork', 'Create a network', {
    description:
      'Starts one task. When it is finished, its created_resources has the network in networks and its router, if there is one, in routers. Returns 409 if the external network has no address left for the router.',
    params: ProjectRegionParams,
    body: schema.CreateNetwork,
    task: ({ scope, body }) => createNetwork(on, scope, body),
  });

  api.patch(`${NETWORKS}/:network_id`, 'updateNetworkNow', 'Update a network immediately', {
    deprecated: true,
    body: schema.UpdateNetwork,
    answer: schema.NetworkAnswer,
    handler: async ({ scope, params, body }) => {
      await updateNetworkNow(on, scope, params.network_id, body);
      return presentedNetwork(await getNetwork(on, scope, params.network_id), scope);
    },
  });

  api.patch(`${NETWORKS_V2}/:network_id`, 'updateNetwork', 'Update a network', {
    versioned: NETWORK,
    description:
      'If nothing changes, returns no task, and under `/gcore` one that is FINISHED. Returns 409 while another task holds the network.',
    body: schema.UpdateNetwork,
    task: ({ scope, params, body }) => updateNetwork(on, scope, params.network_id, body, dialect),
  });

  api.delete(`${NETWORKS}/:network_id`, 'deleteNetwork', 'Delete a network', {
    description:
      'Deletes the network, its subnets, and the router that was created with it, unless that has subnets of other networks. Returns 409 for the default network, and if ports, clusters, file shares or load balancers that stay use the network. It waits for those that are being deleted.',
    task: ({ scope, params }) => deleteOrWait(on, scope, networkDeletion, params.network_id),
  });

  api.get(`${NETWORKS}/:network_id/ports`, 'listPortsOfNetwork', 'List the ports in a network', {
    tags: ['Ports'],
    description:
      "Lists ports of the project's instances. A platform network also has ports of other projects, which are not listed.",
    answer: PortOfNetworkList,
    handler: async ({ scope, params }) => {
      const results = await listPortsOfNetwork(on, scope, params.network_id);
      return { count: results.length, results };
    },
  });
}
