import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { versionedIn } from '../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { presentedExceeded } from '../../ground/quotas/schema.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { CreateLoadBalancer } from './creation-schema.ts';
import {
  CheckLoadBalancerLimits,
  ExceededLoadBalancerQuotas,
  LoadBalancerAnswer,
  LoadBalancerList,
  LoadBalancerListQuery,
  LoadBalancerParams,
  ShowBalancerQuery,
} from './schema.ts';
import {
  createLoadBalancer,
  getLoadBalancer,
  listLoadBalancers,
  loadBalancerDeletion,
  loadBalancerQuotaExceeded,
} from './service.ts';

const BASE = '/cloud/v1/loadbalancers/:project_id/:region_id';
/** `check_limits` and `status` are operations, not IDs. */
export const ONE_BALANCER = `${BASE}/:load_balancer_id(^(?!(?:check_limits|status)$).*$)`;
export const VERSIONED_BALANCER = versionedIn('load_balancers', 'load_balancer_id');
const tags = ['Load balancers'];

export function loadBalancerRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { tags, params: ProjectRegionParams });

  api.post(BASE, 'createLoadBalancer', 'Create a load balancer', {
    description:
      'Starts one task. Its virtual address is taken from a network, or is that of a reserved fixed IP. Listeners with their pools, members and health monitors can be created with it.',
    body: CreateLoadBalancer,
    answer: dialect.tasksSchema,
    handler: async ({ scope, body }) => dialect.tasks([await createLoadBalancer(on, scope, body)]),
  });

  api.get(BASE, 'listLoadBalancers', 'List load balancers', {
    query: LoadBalancerListQuery,
    answer: LoadBalancerList,
    handler: async ({ scope, query }) =>
      presentedPage(await listLoadBalancers(on, scope, query), (answer) => answer),
  });

  api.get(ONE_BALANCER, 'getLoadBalancer', 'Get a load balancer', {
    versioned: VERSIONED_BALANCER,
    params: LoadBalancerParams,
    query: ShowBalancerQuery,
    answer: LoadBalancerAnswer,
    handler: ({ scope, params, query }) =>
      getLoadBalancer(on, scope, params.load_balancer_id, { stats: query.show_stats ?? false }),
  });

  api.delete(ONE_BALANCER, 'deleteLoadBalancer', 'Delete a load balancer', {
    description:
      'Deletes its listeners, pools and L7 policies with it. Floating IPs stay in the project, and so does a reserved fixed IP.',
    params: LoadBalancerParams,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, loadBalancerDeletion, params.load_balancer_id)]),
  });

  api.post(`${BASE}/check_limits`, 'checkLoadBalancerLimits', 'Check quotas for a load balancer', {
    access: 'read',
    onlyAsks: true,
    description:
      'Returns the quotas that such a load balancer would exceed. Nothing is reserved. Load balancers and new floating IPs are counted. The topic of `logging` is not, since a load balancer always gets it.',
    body: CheckLoadBalancerLimits,
    answer: ExceededLoadBalancerQuotas,
    handler: async ({ scope, body }) => presentedExceeded(await loadBalancerQuotaExceeded(on, scope, body)),
  });
}
