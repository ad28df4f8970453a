import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { pageOf } from '../../../../lib/page.ts';
import type { Platform } from '../../../../platform.ts';
import { InstanceParams } from '../schema.ts';
import { InstanceMetricsList, InstanceMetricsQuery, InstanceMetricsQuestion } from './schema.ts';
import { instanceMetrics } from './service.ts';

export function instanceMetricsRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Instances'], params: InstanceParams, access: 'read' });

  api.post(
    '/cloud/v1/instances/:project_id/:region_id/:instance_id/metrics',
    'getInstanceMetrics',
    'Get the load of an instance',
    {
      onlyAsks: true,
      refuses: [409],
      description:
        'Oldest first, since the instance was created: every 15 seconds of an hour, every 20 of 6 hours, every 2 minutes of a day, every 10 of 7 days and every 20 of 14 days. Simulated machines have made-up figures that depend on the ID and the time alone. Returns 400 in a region whose infrastructure measures nothing, and 503 while it does not answer.',
      query: InstanceMetricsQuery,
      body: InstanceMetricsQuestion,
      answer: InstanceMetricsList,
      handler: async ({ scope, params, query, body, log }) =>
        pageOf(await instanceMetrics(on, scope, params.instance_id, body, log), query, (point) => point),
    },
  );
}
