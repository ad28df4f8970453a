import type { Dialect } from '../../../http/dialect.ts';
import { goneSignal } from '../../../http/gone-signal.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { TagsInput } from '../../../lib/tags.ts';
import { versioned } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { tagRoutes } from '../../ground/metadata/routes.ts';
import { KeyQuery } from '../../ground/metadata/schema.ts';
import { presentedExceeded } from '../../ground/quotas/schema.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { WAIT_TEXT, waitForTask } from '../../ground/tasks/service.ts';
import * as changes from './changes.ts';
import * as creation from './creation.ts';
import { CreateLoadBalancer } from './creation-schema.ts';
import * as schema from './schema.ts';
import * as loadBalancers from './service.ts';

const BASE = '/cloud/v1/loadbalancers/:project_id/:region_id';
/** `check_limits` and `status` are operations, not IDs. */
export const ONE_BALANCER = `${BASE}/:load_balancer_id(^(?!(?:check_limits|status)$).*$)`;
export const VERSIONED_BALANCER = versioned('loadbalancer');
const tags = ['Load balancers'];

export function loadBalancerRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: ProjectRegionParams });

  api.post(BASE, 'createLoadBalancer', 'Create a load balancer', {
    description:
      'Starts one task. Its virtual address is taken from a network, or is that of a reserved fixed IP. Listeners with their pools, members and health monitors can be created with it.',
    body: CreateLoadBalancer,
    task: ({ scope, body }) => creation.createLoadBalancer(on, scope, body),
  });

  api.get(BASE, 'listLoadBalancers', 'List load balancers', {
    query: schema.LoadBalancerListQuery,
    answer: schema.LoadBalancerList,
    handler: async ({ scope, query }) =>
      presentedPage(await loadBalancers.listLoadBalancers(on, scope, query), (answer) => answer),
  });

  api.get(ONE_BALANCER, 'getLoadBalancer', 'Get a load balancer', {
    versioned: VERSIONED_BALANCER,
    params: schema.LoadBalancerParams,
    query: schema.ShowBalancerQuery,
    answer: schema.LoadBalancerAnswer,
    handler: ({ scope, params, query }) =>
      loadBalancers.getLoadBalancer(on, scope, params.load_balancer_id, { stats: query.show_stats ?? false }),
  });

  api.delete(ONE_BALANCER, 'deleteLoadBalancer', 'Delete a load balancer', {
    description:
      'Deletes its listeners, pools and L7 policies with it. Floating IPs stay in the project, and so does a reserved fixed IP.',
    params: schema.LoadBalancerParams,
    task: ({ scope, params }) => deleteOrWait(on, scope, loadBalancers.loadBalancerDeletion, params.load_balancer_id),
  });

  api.post(`${BASE}/check_limits`, 'checkLoadBalancerLimits', 'Check quotas for a load balancer', {
    access: 'read',
    onlyAsks: true,
    description:
      'Returns the quotas that such a load balancer would exceed. Nothing is reserved. Load balancers and new floating IPs are counted. The topic of `logging` is not, since a load balancer always gets it.',
    body: schema.CheckLoadBalancerLimits,
    answer: schema.ExceededLoadBalancerQuotas,
    handler: async ({ scope, body }) => presentedExceeded(await creation.loadBalancerQuotaExceeded(on, scope, body)),
  });
}

const ONE_V2 = '/cloud/v2/loadbalancers/:project_id/:region_id/:load_balancer_id';

export function loadBalancerChangeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  tagRoutes(app, on, 'loadbalancer', changes.loadBalancerTags);
  const api = operations(app, { dialect, tags, params: schema.LoadBalancerParams });

  api.patch(ONE_BALANCER, 'updateLoadBalancerNow', 'Update a load balancer and wait for completion', {
    description: WAIT_TEXT,
    deprecated: true,
    body: schema.UpdateLoadBalancerNow,
    answer: schema.LoadBalancerAnswer,
    handler: async ({ scope, params, body }, reply) => {
      const { load_balancer_id: id } = params;
      const task = await changes.updateLoadBalancer(on, scope, id, body);
      const asked = { principal: scope.principal, gone: goneSignal(reply) };
      await waitForTask(on, task, `Load balancer ${id}`, asked);
      return loadBalancers.getLoadBalancer(on, scope, id);
    },
  });

  api.patch(ONE_V2, 'updateLoadBalancer', 'Update a load balancer', {
    versioned: VERSIONED_BALANCER,
    description:
      'Fields that are left out stay. The task has finished already if nothing changes. Returns 409 while a task holds the load balancer.',
    body: schema.UpdateLoadBalancer,
    task: ({ scope, params, body }) => changes.updateLoadBalancer(on, scope, params.load_balancer_id, body),
  });

  api.post(`${ONE_V2}/metadata`, 'addLoadBalancerMetadataV2', 'Add or update tags of a load balancer', {
    versioned: VERSIONED_BALANCER,
    description: "Other tags don't change.",
    deprecated: true,
    body: TagsInput,
    task: ({ scope, params, body }) => changes.addLoadBalancerTags(on, scope, params.load_balancer_id, body),
  });

  api.put(`${ONE_V2}/metadata`, 'replaceLoadBalancerMetadataV2', 'Replace all tags of a load balancer', {
    versioned: VERSIONED_BALANCER,
    deprecated: true,
    body: TagsInput,
    task: ({ scope, params, body }) => changes.replaceLoadBalancerTags(on, scope, params.load_balancer_id, body),
  });

  api.delete(`${ONE_V2}/metadata_item`, 'deleteLoadBalancerMetadataItemV2', 'Delete a tag of a load balancer', {
    versioned: VERSIONED_BALANCER,
    deprecated: true,
    query: KeyQuery,
    task: ({ scope, params, query }) => changes.removeLoadBalancerTag(on, scope, params.load_balancer_id, query.key),
  });
}
