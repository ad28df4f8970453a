import { type Static, Type } from 'typebox';
import { metricsQuestion } from '../../../../lib/idle-times.ts';
import { listOf, listQuery, Named, nullable, Query } from '../../../../lib/wire.ts';

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
