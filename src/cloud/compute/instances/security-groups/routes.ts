import { operations } from '../../../../http/operations.ts';
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
import { GROUP_TAGS, GROUPS, GroupParams } from '../../../network/security-groups/schema.ts';
import { getSecurityGroup } from '../../../network/security-groups/service.ts';
import { InstanceList } from '../schema.ts';
import { shownInstances } from '../service.ts';

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

export function instanceGroupRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: GroupInstanceParams });

  for (const { path, change, operationId, summary, description } of CHANGES) {
    api.post(`${INSTANCE}/${path}`, operationId, summary, {
      description,
      body: assignGroupsSchema,
      handler: ({ scope, params, body }) => change(on, scope, params.instance_id, body),
    });
  }

  api.get(`${INSTANCE}/securitygroups`, 'listInstanceSecurityGroups', 'List the security groups of an instance', {
    description: 'Lists the groups on any of its ports, sorted by name.',
    answer: instanceGroupListSchema,
    handler: async ({ scope, params }) => {
      const results = await groupsOfInstance(on, scope, params.instance_id);
      return { count: results.length, results };
    },
  });
}

export function groupInstanceRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: GROUP_TAGS, params: GroupParams });

  api.get(`${GROUPS}/:group_id/instances`, 'listSecurityGroupInstances', 'List the instances of a security group', {
    description: 'Lists instances with the group on at least one port, newest first.',
    answer: InstanceList,
    handler: async ({ scope, params }) => {
      const { id: groupId } = await getSecurityGroup(on, scope, params.group_id);
      const { count, rows } = await shownInstances(on, scope, { groupId, include_baremetal: true });
      return { count, results: rows };
    },
  });
}
