import type { Api } from '../../http/server.ts';
import { GROUP_TAGS, GROUPS, GroupParams } from '../security-groups/params.ts';
import type { SecurityGroups } from '../security-groups/service.ts';
import { presentedInstance } from './presenter.ts';
import { InstanceList } from './schema.ts';
import type { Instances } from './service.ts';

export function groupInstanceRoutes(
  app: Api,
  services: { instances: Instances; securityGroups: SecurityGroups },
): void {
  const { instances, securityGroups } = services;

  app.get(`${GROUPS}/:group_id/instances`, {
    config: { access: 'read' },
    schema: {
      operationId: 'listSecurityGroupInstances',
      summary: 'List the instances of a security group',
      description: 'Those with the group on at least one port, the newest first.',
      tags: GROUP_TAGS,
      params: GroupParams,
      response: { 200: InstanceList },
    },
    handler: async ({ scope, params }) => {
      const { id: groupId } = await securityGroups.get(scope, params.group_id);
      const { count, rows } = await instances.list(scope, { groupId, include_baremetal: true });
      const shown = { subnets: false, interfaceNames: false };
      return { count, results: rows.map((row) => presentedInstance(row, scope, shown)) };
    },
  });
}
