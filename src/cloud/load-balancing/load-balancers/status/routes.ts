import type { Logger } from 'pino';
import { Type } from 'typebox';
import { asked } from '../../../../backends/contract/asking.ts';
import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { InvalidError } from '../../../../lib/errors.ts';
import { foundById } from '../../../../lib/ids.ts';
import { hoursOf, MetricsQuestion, stepsOf } from '../../../../lib/node-settings.ts';
import { Input, OptionalFlag, ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { presentedLoad } from '../../../compute/instances/presenter.ts';
import { usableFlavor } from '../flavors/flavors.ts';
import { ONE_BALANCER } from '../routes.ts';
import { LoadBalancerParams } from '../schema.ts';
import { findBalancer, handleOf, idsOfAll } from '../store.ts';
import { changeTree } from '../tree/edits.ts';
import { forestsOf } from '../tree/parts.ts';
import { FAIL_OVER, RESIZE } from '../tree/tasks.ts';
import * as schema from './schema.ts';

const find = (on: Platform, scope: Scope, id: string) =>
  foundById('Load balancer', id, () => findBalancer(on.database.sql, scope, id));

async function shown(on: Platform, ids: readonly string[]): Promise<schema.LoadBalancerStatus[]> {
  const byId = new Map<string, schema.LoadBalancerStatus>();
  for await (const forest of forestsOf(on.database.sql, ids)) {
    for (const row of forest.balancers) byId.set(row.id, schema.presentedStatus(row, forest));
  }
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** @throws NotFoundError */
export async function loadBalancerStatus(on: Platform, scope: Scope, id: string): Promise<schema.LoadBalancerStatus> {
  const { id: known } = await find(on, scope, id);
  const [status] = await shown(on, [known]);
  return foundById('Load balancer', id, async () => status);
}

/** Newest first. */
export const loadBalancerStatuses = async (on: Platform, scope: Scope): Promise<schema.LoadBalancerStatus[]> =>
  shown(on, await idsOfAll(on.database.sql, scope));

/**
 * Returns the load since the load balancer exists, oldest first.
 * @throws NotFoundError, InvalidError where nothing is measured, ConflictError if the infrastructure refuses,
 * UnavailableError
 */
export async function loadBalancerMetrics(
  on: Platform,
  scope: Scope,
  id: string,
  question: MetricsQuestion,
  log: Pick<Logger, 'info'>,
): Promise<ReturnType<typeof presentedLoad>[]> {
  const { id: known, created_at: createdAt, project_id: projectId } = await find(on, scope, id);
  const { trafficOf } = on.backends.of(scope.regionId, 'load_balancer');
  if (!trafficOf) {
    const message = `The infrastructure of region ${scope.region.display_name} doesn't measure load.`;
    throw new InvalidError({ load_balancer_id: [message] });
  }
  const times = stepsOf(hoursOf(question), { createdAt, now: on.clock.now() });
  if (!times) return [];
  const handle = await handleOf(on.database.sql, known);
  const ref = { kind: 'load_balancer', id: known, regionId: scope.regionId, projectId, handle } as const;
  const load = await asked(log, (call) => trafficOf(ref, times, call));
  return load.map(presentedLoad);
}

/** Returns the task that gives it another flavor. @throws NotFoundError, InvalidError, ForbiddenError, ConflictError */
export const resizeLoadBalancer = (on: Platform, scope: Scope, id: string, flavorId: string): Promise<string> =>
  changeTree(
    on,
    scope,
    RESIZE,
    async () => id,
    async (_tx, edit, balancer) => {
      const flavor = usableFlavor(on.catalog, scope.regionId, flavorId);
      if (flavor.flavor_id === balancer.flavor.flavor_id) {
        const message = `The load balancer already has flavor ${flavorId}; choose another one.`;
        throw new InvalidError({ flavor: [message] });
      }
      await edit.update('load_balancers', balancer, { flavor, flavor_named: true });
      return { data: { flavor: flavorId } };
    },
  );

/** Returns the task that replaces its machines. @throws NotFoundError, ConflictError while a task holds it */
export const failOverLoadBalancer = (on: Platform, scope: Scope, id: string): Promise<string> =>
  changeTree(
    on,
    scope,
    FAIL_OVER,
    async () => id,
    async (_tx, edit, balancer) => {
      await edit.update('load_balancers', balancer, { failovers: balancer.failovers + 1 });
      return { data: {} };
    },
  );

const tags = ['Load balancers'];

const Resize = Input(
  'ResizeLoadBalancer',
  { flavor: Type.String({ minLength: 1, maxLength: 255, description: 'Flavor', examples: ['lb1-2-4'] }) },
  { flavor: 'lb1-2-4' },
);
const FailOver = Input(
  'FailoverLoadBalancer',
  {
    force: OptionalFlag({
      description:
        'Whether to replace the machines whatever the status is. Has no effect: nothing here needs a status.',
      examples: [true],
    }),
  },
  { force: true },
);

export function loadBalancerCareRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: LoadBalancerParams });

  api.get(
    '/cloud/v1/loadbalancers/:project_id/:region_id/status',
    'listLoadBalancerStatuses',
    'List the statuses of load balancers',
    {
      description: 'Newest first, each with everything below it.',
      params: ProjectRegionParams,
      answer: schema.LoadBalancerStatusList,
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
      answer: schema.LoadBalancerStatus,
      handler: ({ scope, params }) => loadBalancerStatus(on, scope, params.load_balancer_id),
    },
  );

  api.post(`${ONE_BALANCER}/metrics`, 'getLoadBalancerMetrics', 'Get the load of a load balancer', {
    access: 'read',
    onlyAsks: true,
    refuses: [409],
    description:
      'Up to 60 points since it was created, oldest first. Simulated load balancers have made-up figures that depend on the ID and the time alone. Returns 400 in a region whose infrastructure measures nothing, and 503 while it does not answer.',
    body: MetricsQuestion,
    answer: schema.LoadBalancerMetrics,
    handler: async ({ scope, params, body, log }) => {
      const results = await loadBalancerMetrics(on, scope, params.load_balancer_id, body, log);
      return { count: results.length, results };
    },
  });

  api.post(`${ONE_BALANCER}/resize`, 'resizeLoadBalancer', 'Give a load balancer another flavor', {
    description: 'Returns 409 while a task holds the load balancer.',
    body: Resize,
    task: ({ scope, params, body }) => resizeLoadBalancer(on, scope, params.load_balancer_id, body.flavor),
  });

  api.post(`${ONE_BALANCER}/failover`, 'failOverLoadBalancer', 'Replace the machines of a load balancer', {
    description: 'Its addresses stay the same. Returns 409 while a task holds the load balancer, even with force.',
    body: FailOver,
    task: ({ scope, params }) => failOverLoadBalancer(on, scope, params.load_balancer_id),
  });
}
