import type { Dialect } from '../../../http/dialect.ts';
import { goneSignal } from '../../../http/gone-signal.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { TagsInput } from '../../../lib/tags-input.ts';
import type { Platform } from '../../../platform.ts';
import { KeyQuery } from '../../ground/metadata/schema.ts';
import { WAIT_TEXT, waitForTask } from '../../ground/tasks/service.ts';
import {
  addLoadBalancerTags,
  removeLoadBalancerTag,
  replaceLoadBalancerTags,
  updateLoadBalancer,
} from './changes.ts';
import { ONE_BALANCER, VERSIONED_BALANCER } from './routes.ts';
import {
  LoadBalancerAnswer,
  LoadBalancerParams,
  UpdateLoadBalancer,
  UpdateLoadBalancerNow,
} from './schema.ts';
import { getLoadBalancer } from './service.ts';

const ONE_V2 = '/cloud/v2/loadbalancers/:project_id/:region_id/:load_balancer_id';
const tags = ['Load balancers'];

export function loadBalancerChangeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { tags, params: LoadBalancerParams });

  api.patch(ONE_BALANCER, 'updateLoadBalancerNow', 'Update a load balancer and wait for completion', {
    description: WAIT_TEXT,
    deprecated: true,
    body: UpdateLoadBalancerNow,
    answer: LoadBalancerAnswer,
    handler: async ({ scope, params, body }, reply) => {
      const { load_balancer_id: id } = params;
      const task = await updateLoadBalancer(on, scope, id, body);
      const asked = { principal: scope.principal, gone: goneSignal(reply) };
      await waitForTask(on, task, `Load balancer ${id}`, asked);
      return getLoadBalancer(on, scope, id);
    },
  });

  api.patch(ONE_V2, 'updateLoadBalancer', 'Update a load balancer', {
    versioned: VERSIONED_BALANCER,
    description:
      'Fields that are left out stay. The task has finished already if nothing changes. Returns 409 while a task holds the load balancer.',
    body: UpdateLoadBalancer,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await updateLoadBalancer(on, scope, params.load_balancer_id, body)]),
  });

  api.post(`${ONE_V2}/metadata`, 'addLoadBalancerMetadataV2', 'Add or update tags of a load balancer', {
    versioned: VERSIONED_BALANCER,
    description: "Other tags don't change.",
    deprecated: true,
    body: TagsInput,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await addLoadBalancerTags(on, scope, params.load_balancer_id, body)]),
  });

  api.put(`${ONE_V2}/metadata`, 'replaceLoadBalancerMetadataV2', 'Replace all tags of a load balancer', {
    versioned: VERSIONED_BALANCER,
    deprecated: true,
    body: TagsInput,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await replaceLoadBalancerTags(on, scope, params.load_balancer_id, body)]),
  });

  api.delete(
    `${ONE_V2}/metadata_item`,
    'deleteLoadBalancerMetadataItemV2',
    'Delete a tag of a load balancer',
    {
      versioned: VERSIONED_BALANCER,
      deprecated: true,
      query: KeyQuery,
      answer: dialect.tasksSchema,
      handler: async ({ scope, params, query }) =>
        dialect.tasks([await removeLoadBalancerTag(on, scope, params.load_balancer_id, query.key)]),
    },
  );
}
