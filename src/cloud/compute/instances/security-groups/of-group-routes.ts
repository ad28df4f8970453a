import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { GROUP_TAGS, GROUPS, GroupParams } from '../../../network/security-groups/path-schema.ts';
import { getSecurityGroup } from '../../../network/security-groups/service.ts';
import { InstanceList } from '../schema.ts';
import { shownInstances } from '../service.ts';

export function groupInstanceRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: GROUP_TAGS, params: GroupParams });

  api.get(
    `${GROUPS}/:group_id/instances`,
    'listSecurityGroupInstances',
    'List the instances of a security group',
    {
      description: 'Lists instances with the group on at least one port, newest first.',
      answer: InstanceList,
      handler: async ({ scope, params }) => {
        const { id: groupId } = await getSecurityGroup(on, scope, params.group_id);
        const { count, rows } = await shownInstances(on, scope, { groupId, include_baremetal: true });
        return { count, results: rows };
      },
    },
  );
}
