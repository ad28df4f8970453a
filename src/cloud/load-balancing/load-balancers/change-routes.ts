import type { Dialect } from '../../../http/dialect.ts';
import { goneSignal } from '../../../http/gone-signal.ts';
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
  app.patch(ONE_BALANCER, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updateLoadBalancerNow',
      summary: 'Update a load balancer and wait for completion',
      description: WAIT_TEXT,
      deprecated: true,
      tags,
      params: LoadBalancerParams,
      body: UpdateLoadBalancerNow,
      response: { 200: LoadBalancerAnswer },
    },
    handler: async ({ scope, params, body }, reply) => {
      const { load_balancer_id: id } = params;
      const task = await updateLoadBalancer(on, scope, id, body);
      const asked = { principal: scope.principal, gone: goneSignal(reply) };
      await waitForTask(on, task, `Load balancer ${id}`, asked);
      return getLoadBalancer(on, scope, id);
    },
  });

  app.patch(ONE_V2, {
    config: { access: 'operate', versioned: VERSIONED_BALANCER },
    schema: {
      operationId: 'updateLoadBalancer',
      summary: 'Update a load balancer',
      description:
        'Fields that are left out stay. The task has finished already if nothing changes. Returns 409 while a task holds the load balancer.',
      tags,
      params: LoadBalancerParams,
      body: UpdateLoadBalancer,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await updateLoadBalancer(on, scope, params.load_balancer_id, body)]),
  });

  const ofTags = { tags, deprecated: true, params: LoadBalancerParams };
  const versioned = { access: 'operate', versioned: VERSIONED_BALANCER } as const;

  app.post(`${ONE_V2}/metadata`, {
    config: versioned,
    schema: {
      operationId: 'addLoadBalancerMetadataV2',
      summary: 'Add or update tags of a load balancer',
      description: "Other tags don't change.",
      ...ofTags,
      body: TagsInput,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await addLoadBalancerTags(on, scope, params.load_balancer_id, body)]),
  });

  app.put(`${ONE_V2}/metadata`, {
    config: versioned,
    schema: {
      operationId: 'replaceLoadBalancerMetadataV2',
      summary: 'Replace all tags of a load balancer',
      ...ofTags,
      body: TagsInput,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await replaceLoadBalancerTags(on, scope, params.load_balancer_id, body)]),
  });

  app.delete(`${ONE_V2}/metadata_item`, {
    config: versioned,
    schema: {
      operationId: 'deleteLoadBalancerMetadataItemV2',
      summary: 'Delete a tag of a load balancer',
      ...ofTags,
      querystring: KeyQuery,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, query }) =>
      dialect.tasks([await removeLoadBalancerTag(on, scope, params.load_balancer_id, query.key)]),
  });
}
