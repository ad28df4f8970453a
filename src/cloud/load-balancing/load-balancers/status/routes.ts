import { Type } from 'typebox';
import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { MetricsQuestion } from '../../../../lib/idle-times.ts';
import { Input, ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { ONE_BALANCER } from '../routes.ts';
import { LoadBalancerParams } from '../schema.ts';
import { LoadBalancerMetrics, LoadBalancerStatus, LoadBalancerStatusList } from './schema.ts';
import {
  failOverLoadBalancer,
  loadBalancerMetrics,
  loadBalancerStatus,
  loadBalancerStatuses,
  resizeLoadBalancer,
} from './service.ts';

const tags = ['Load balancers'];

const Resize = Input(
  'ResizeLoadBalancer',
  { flavor: Type.String({ minLength: 1, maxLength: 255, description: 'Flavor', examples: ['lb1-2-4'] }) },
  { flavor: 'lb1-2-4' },
);
const FailOver = Input(
  'FailoverLoadBalancer',
  {
    force: Type.Optional(
      Type.Boolean({
        description:
          'Whether to replace the machines whatever the status is. Has no effect: nothing here needs a status.',
        examples: [true],
      }),
    ),
  },
  { force: true },
);

export function loadBalancerCareRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { tags, params: LoadBalancerParams });

  api.get(
    '/cloud/v1/loadbalancers/:project_id/:region_id/status',
    'listLoadBalancerStatuses',
    'List the statuses of load balancers',
    {
      description: 'Newest first, each with everything below it.',
      params: ProjectRegionParams,
      answer: LoadBalancerStatusList,
      handler: async ({ scope }) => {
        const results = await loadBalancerStatuses(on, scope);
        return { count: results.length, results };
      },
    },
  );

  api.get(
    `${ONE_BALANCER}/status`,
    'getLoadBalancerStatus',
    'Get the statuses of a load balancer and everything below it',
    {
      answer: LoadBalancerStatus,
      handler: ({ scope, params }) => loadBalancerStatus(on, scope, params.load_balancer_id),
    },
  );

  api.post(`${ONE_BALANCER}/metrics`, 'getLoadBalancerMetrics', 'Get the load of a load balancer', {
    access: 'read',
    onlyAsks: true,
    description:
      'Up to 60 points since it was created, oldest first. The simulated infrastructure has no traffic, so it is always idle.',
    body: MetricsQuestion,
    answer: LoadBalancerMetrics,
    handler: async ({ scope, params, body }) => {
      const results = await loadBalancerMetrics(on, scope, params.load_balancer_id, body);
      return { count: results.length, results };
    },
  });

  api.post(`${ONE_BALANCER}/resize`, 'resizeLoadBalancer', 'Give a load balancer another flavor', {
    description: 'Returns 409 while a task holds the load balancer.',
    body: Resize,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await resizeLoadBalancer(on, scope, params.load_balancer_id, body.flavor)]),
  });

  api.post(`${ONE_BALANCER}/failover`, 'failOverLoadBalancer', 'Replace the machines of a load balancer', {
    description:
      'Its addresses stay the same. Returns 409 while a task holds the load balancer, even with force.',
    body: FailOver,
    answer: dialect.tasksSchema,
    handler: async ({ scope, params }) =>
      dialect.tasks([await failOverLoadBalancer(on, scope, params.load_balancer_id)]),
  });
}
