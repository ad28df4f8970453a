import type { Logger } from 'pino';
import { type Static, Type } from 'typebox';
import { asked } from '../../../../backends/contract/asking.ts';
import type { MachineLoad } from '../../../../backends/contract/backend.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { InvalidError } from '../../../../lib/errors.ts';
import { hoursOf, metricsQuestion, stepsOf } from '../../../../lib/node-settings.ts';
import { pageOf } from '../../../../lib/page.ts';
import { listOf, listQuery, Named, nullable, Query } from '../../../../lib/wire.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { presentedLoad } from '../presenter.ts';
import { InstanceParams } from '../schema.ts';
import { getInstance } from '../service.ts';
import { findInfrastructure } from '../store.ts';

const number = (description: string) => nullable(Type.Number({ description }));

export const InstanceMetrics = Named('InstanceMetrics', {
  time: Type.String({ description: 'In UTC', examples: ['2026-05-23T05:00:00Z'] }),
  cpu_util: number('CPU in use, in percent of all cores'),
  memory_util: number('Memory in use, in percent'),
  network_Bps_ingress: number('Bytes received per second'),
  network_Bps_egress: number('Bytes sent per second'),
  network_pps_ingress: number('Packets received per second'),
  network_pps_egress: number('Packets sent per second'),
  disks: Type.Array(
    Named('DiskMetrics', {
      disk_name: Type.String({ description: 'Name of the device', examples: ['vda'] }),
      disk_Bps_read: number('Bytes read per second'),
      disk_Bps_write: number('Bytes written per second'),
      disk_iops_read: number('Reads per second'),
      disk_iops_write: number('Writes per second'),
    }),
    { description: 'Disks that are attached now' },
  ),
});
export type InstanceMetrics = Static<typeof InstanceMetrics>;
export const InstanceMetricsList = listOf(InstanceMetrics, 'InstanceMetricsList');

export const InstanceMetricsQuestion = metricsQuestion(
  'InstanceMetricsQuestion',
  336,
  'How far back to look: 1, 6 or 24 hours, or 7 or 14 days',
);
export type InstanceMetricsQuestion = Static<typeof InstanceMetricsQuestion>;

export const InstanceMetricsQuery = Query(listQuery());

const MINUTE_MS = 60_000;

/** The published intervals in hours, and the time between two points. */
const STEPS = new Map([
  [1, 15_000],
  [6, 20_000],
  [24, 2 * MINUTE_MS],
  [7 * 24, 10 * MINUTE_MS],
  [14 * 24, 20 * MINUTE_MS],
]);

/** Returns the times to look at, if there are any. @throws InvalidError for other intervals */
export function timesOf(
  question: InstanceMetricsQuestion,
  age: { createdAt: Date; now: Date },
): ReturnType<typeof stepsOf> {
  const hours = hoursOf(question);
  const stepMs = STEPS.get(hours);
  if (stepMs === undefined) {
    throw new InvalidError({ time_interval: ['Only 1, 6 and 24 hours and 7 and 14 days are possible.'] });
  }
  return stepsOf(hours, age, stepMs);
}

/**
 * Returns the load of an instance, oldest first.
 * @throws NotFoundError, InvalidError for another interval and where nothing is measured, ConflictError if the
 * infrastructure refuses, UnavailableError
 */
export async function instanceMetrics(
  on: Platform,
  scope: Scope,
  id: string,
  question: InstanceMetricsQuestion,
  log: Pick<Logger, 'info'>,
): Promise<InstanceMetrics[]> {
  const { id: machineId, created_at: createdAt, project_id: projectId } = await getInstance(on, scope, id);
  const times = timesOf(question, { createdAt, now: on.clock.now() });
  const { devices, kind, ownerId, handle } = await findInfrastructure(on.database.sql, machineId);
  const { loadOf } = on.backends.of(scope.regionId, kind);
  if (!loadOf) {
    const message = `The infrastructure of region ${scope.region.display_name} doesn't measure load.`;
    throw new InvalidError({ instance_id: [message] });
  }
  if (!times) return [];
  const disks = devices.map((device) => device.slice(device.lastIndexOf('/') + 1));
  const ref = { kind, id: ownerId, regionId: scope.regionId, projectId, handle };
  const load = await asked(log, (call) => loadOf(ref, { machineId, disks, ...times }, call));
  return load.map((one) => presented(one, disks));
}

function presented(load: MachineLoad, disks: readonly string[]): InstanceMetrics {
  return {
    ...presentedLoad(load),
    disks: disks.map((disk_name) => {
      const disk = load.disks?.[disk_name];
      return {
        disk_name,
        disk_Bps_read: disk?.bytesRead ?? null,
        disk_Bps_write: disk?.bytesWritten ?? null,
        disk_iops_read: disk?.reads ?? null,
        disk_iops_write: disk?.writes ?? null,
      };
    }),
  };
}

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
