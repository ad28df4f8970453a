import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { presentedPage } from '../../../../lib/page.ts';
import { PROJECT_REGION_COLUMNS, type Versioned } from '../../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { tagRoutes } from '../../../ground/metadata/routes.ts';
import { deleteOrWait } from '../../../ground/tasks/behind/service.ts';
import { presentedSubnet } from '../presenter.ts';
import { CreateSubnet, SubnetAnswer, SubnetList, SubnetListQuery, SubnetParams, UpdateSubnet } from '../schema.ts';
import { getSubnet, listSubnets } from '../service.ts';
import { createSubnet, subnetDeletion, subnetTags, updateSubnet } from './changes.ts';

const SUBNETS = '/cloud/v1/subnets/:project_id/:region_id';
const VERSIONED: Versioned = {
  table: 'subnets',
  columns: { subnet_id: 'id' },
  uuid: 'subnet_id',
  within: { column: 'network_id', table: 'networks', columns: PROJECT_REGION_COLUMNS },
};
const tags = ['Networks'];

export function subnetRoutes(app: Api, dialect: Dialect, on: Platform): void {
  tagRoutes(app, on, 'subnet', subnetTags);
  const api = operations(app, { dialect, tags, params: SubnetParams });

  api.get(SUBNETS, 'listSubnets', 'List subnets', {
    params: ProjectRegionParams,
    query: SubnetListQuery,
    answer: SubnetList,
    handler: async ({ scope, query }) =>
      presentedPage(await listSubnets(on, scope, query), (row) => presentedSubnet(row, scope)),
  });

  api.get(`${SUBNETS}/:subnet_id`, 'getSubnet', 'Get a subnet', {
    versioned: VERSIONED,
    answer: SubnetAnswer,
    handler: async ({ scope, params }) => presentedSubnet(await getSubnet(on, scope, params.subnet_id), scope),
  });

  api.post(SUBNETS, 'createSubnet', 'Create a subnet', {
    description:
      'Starts one task. When it is finished, its created_resources has the subnet in subnets. Returns 409 if another subnet of the network, or of the router that it is attached to, overlaps it.',
    params: ProjectRegionParams,
    body: CreateSubnet,
    task: ({ scope, body }) => createSubnet(on, scope, body),
  });

  api.patch(`${SUBNETS}/:subnet_id`, 'updateSubnet', 'Update a subnet', {
    description:
      'Takes effect immediately. A router with the address of the gateway follows it, and is detached if gateway_ip becomes null. Returns 409 while a task holds the subnet, if a port uses the address of the new gateway, and while routes or floating IPs need the former one.',
    body: UpdateSubnet,
    answer: SubnetAnswer,
    handler: async ({ scope, params, body }) => {
      // The library under the older Terraform provider repeats that there is no gateway as an empty text.
      const change = dialect.legacy && body.gateway_ip === '' ? { ...body, gateway_ip: null } : body;
      await updateSubnet(on, scope, params.subnet_id, change);
      return presentedSubnet(await getSubnet(on, scope, params.subnet_id), scope);
    },
  });

  api.delete(`${SUBNETS}/:subnet_id`, 'deleteSubnet', 'Delete a subnet', {
    description:
      'Detaches the subnet from its routers. Returns 409 for the subnet of the default network, while routes of a router go through it, and if ports, clusters, file shares or load balancers that stay use the subnet. It waits for those that are being deleted.',
    task: ({ scope, params }) => deleteOrWait(on, scope, subnetDeletion, params.subnet_id),
  });
}
