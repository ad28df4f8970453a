import { Type } from 'typebox';
import type { Api } from '../../../../http/server.ts';
import { ProjectRegion } from '../../../../lib/wire.ts';
import type { SecurityGroups } from '../../../network/security-groups/service.ts';
import { InstanceList } from '../schema.ts';
import type { Instances } from '../service.ts';

const GroupParams = Type.Object({
  ...ProjectRegion,
  group_id: Type.String({ description: 'Security group ID' }),
});

export function groupInstanceRoutes(
  app: Api,
  services: { instances: Pick<Instances, 'shown'>; securityGroups: SecurityGroups },
): void {
  const { instances, securityGroups } = services;

  app.get('/cloud/v1/securitygroups/:project_id/:region_id/:group_id/instances', {
    config: { access: 'read' },
    schema: {
      operationId: 'listSecurityGroupInstances',
      summary: 'List the instances of a security group',
      description: 'Lists instances with the group on at least one port, newest first.',
      tags: ['Security groups'],
      params: GroupParams,
      response: { 200: InstanceList },
    },
    handler: async ({ scope, params }) => {
      const { id: groupId } = await securityGroups.get(scope, params.group_id);
      const { count, rows } = await instances.shown(scope, { groupId, include_baremetal: true });
      return { count, results: rows };
    },
  });
}
