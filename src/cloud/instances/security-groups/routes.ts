import { Type } from 'typebox';
import type { Api } from '../../../http/server.ts';
import {
  assignGroupsSchema,
  GroupInstanceParams,
  instanceGroupListSchema,
} from '../../security-groups/of-instances/schema.ts';
import type { SecurityGroups } from '../../security-groups/service.ts';

const INSTANCE = '/cloud/v1/instances/:project_id/:region_id/:instance_id';
const tags = ['Instances'];

const CHANGES = [
  {
    path: 'addsecuritygroup',
    operationId: 'assignSecurityGroup',
    summary: 'Put security groups on an instance',
    description:
      'On all of its ports, or port by port. A group that is on a port already stays. 409 for a port whose security is off, and for more than 10 groups on one.',
    change: 'assign',
  },
  {
    path: 'delsecuritygroup',
    operationId: 'unassignSecurityGroup',
    summary: 'Take security groups off an instance',
    description: 'Off all of its ports, or port by port. A group that is on none of them is no fault.',
    change: 'unassign',
  },
] as const;

/** Routes for the security groups on an instance's ports. */
export function instanceGroupRoutes(app: Api, { securityGroups }: { securityGroups: SecurityGroups }): void {
  for (const { path, change, ...documented } of CHANGES) {
    app.post(`${INSTANCE}/${path}`, {
      config: { access: 'operate' },
      schema: {
        ...documented,
        tags,
        params: GroupInstanceParams,
        body: assignGroupsSchema,
        response: { 204: Type.Null() },
      },
      handler: async ({ scope, params, body }, reply) => {
        await securityGroups[change](scope, params.instance_id, body);
        return reply.code(204).send(null);
      },
    });
  }

  app.get(`${INSTANCE}/securitygroups`, {
    config: { access: 'read' },
    schema: {
      operationId: 'listInstanceSecurityGroups',
      summary: 'List the security groups of an instance',
      description: 'Those on any of its ports, by name.',
      tags,
      params: GroupInstanceParams,
      response: { 200: instanceGroupListSchema },
    },
    handler: async ({ scope, params }) => {
      const results = await securityGroups.groupsOf(scope, params.instance_id);
      return { count: results.length, results };
    },
  });
}
