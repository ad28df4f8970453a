import type { Dialect } from '../../../http/dialect.ts';
import { goneSignal } from '../../../http/gone-signal.ts';
import type { Api } from '../../../http/server.ts';
import { TagsInput } from '../../../lib/tags-input.ts';
import { KeyQuery } from '../../ground/metadata/schema.ts';
import { type Tasks, WAIT_TEXT, waitForTask } from '../../ground/tasks/service.ts';
import type { LoadBalancerChanges } from './changes.ts';
import { ONE_BALANCER, VERSIONED_BALANCER } from './routes.ts';
import {
  LoadBalancerAnswer,
  LoadBalancerParams,
  UpdateLoadBalancer,
  UpdateLoadBalancerNow,
} from './schema.ts';
import type { LoadBalancers } from './service.ts';

const ONE_V2 = '/cloud/v2/loadbalancers/:project_id/:region_id/:load_balancer_id';
const tags = ['Load balancers'];

export function loadBalancerChangeRoutes(
  app: Api,
  dialect: Dialect,
  services: {
    loadBalancers: LoadBalancers;
    loadBalancerChanges: LoadBalancerChanges;
    tasks: Pick<Tasks, 'ended'>;
  },
): void {
  const { loadBalancers, loadBalancerChanges: changes, tasks } = services;
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
      const task = await changes.update(scope, id, body);
      const asked = { principal: scope.principal, gone: goneSignal(reply) };
      await waitForTask(tasks, task, `Load balancer ${id}`, asked);
      return loadBalancers.get(scope, id);
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
      dialect.tasks([await changes.update(scope, params.load_balancer_id, body)]),
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
      dialect.tasks([await changes.addTags(scope, params.load_balancer_id, body)]),
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
      dialect.tasks([await changes.replaceTags(scope, params.load_balancer_id, body)]),
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
      dialect.tasks([await changes.removeTag(scope, params.load_balancer_id, query.key)]),
  });
}
