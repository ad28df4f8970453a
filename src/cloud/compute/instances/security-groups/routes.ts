import { Type } from 'typebox';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import {
  assignSecurityGroup,
  groupsOfInstance,
  unassignSecurityGroup,
} from '../../../network/security-groups/of-instances/changes.ts';
import {
  assignGroupsSchema,
  GroupInstanceParams,
  instanceGroupListSchema,
} from '../../../network/security-groups/of-instances/schema.ts';

const INSTANCE = '/cloud/v1/instances/:project_id/:region_id/:instance_id';
const tags = ['Instances'];

const CHANGES = [
  {
    path: 'addsecuritygroup',
    operationId: 'assignSecurityGroup',
    summary: 'Add security groups to an instance',
    description:
      'Adds groups to all ports of the instance, or to single ports. A group that a port already has is skipped. Returns 409 for a port with port security disabled, and for more than 10 groups on a port.',
    change: assignSecurityGroup,
  },
  {
    path: 'delsecuritygroup',
    operationId: 'unassignSecurityGroup',
    summary: 'Remove security groups from an instance',
    description:
      "Removes groups from all ports of the instance, or from single ports. A group that a port doesn't have is skipped.",
    change: unassignSecurityGroup,
  },
] as const;

/** Routes for the security groups on an instance's ports. */
export function instanceGroupRoutes(app: Api, on: Platform): void {
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
        await change(on, scope, params.instance_id, body);
        return reply.code(204).send(null);
      },
    });
  }

  app.get(`${INSTANCE}/securitygroups`, {
    config: { access: 'read' },
    schema: {
      operationId: 'listInstanceSecurityGroups',
      summary: 'List the security groups of an instance',
      description: 'Lists the groups on any of its ports, sorted by name.',
      tags,
      params: GroupInstanceParams,
      response: { 200: instanceGroupListSchema },
    },
    handler: async ({ scope, params }) => {
      const results = await groupsOfInstance(on, scope, params.instance_id);
      return { count: results.length, results };
    },
  });
}
