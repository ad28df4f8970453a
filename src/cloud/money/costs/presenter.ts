import { isoSeconds } from '../../../lib/time.ts';
import { billedValueOf } from './costing.ts';
import type { UsageTotal, UsedResource as UsedResourceAnswer, UsedType } from './schema.ts';
import type { UsedInTotal, UsedResource } from './store.ts';

type Shown = Pick<UsedInTotal, 'sku' | 'type'>;

/** How each type is counted and named. Things with a size are counted in GiB and time. */
const KINDS: Record<
  UsedType,
  {
    counted: 'time' | 'size' | 'bytes';
    metric(sku: string): string;
    feature(sku: string): string;
    skuField?: keyof UsageTotal;
  }
> = {
  baremetal: machine('Bare metal server'),
  egress_traffic: {
    counted: 'bytes',
    metric: (sku) => `egress_traffic_${sku}_gbs`,
    feature: (sku) => `Outgoing traffic of ${sku === 'virtual' ? 'instances' : 'bare metal servers'}, GB`,
  },
  external_ip: once('externalip_min', 'Public IP address'),
  file_share: {
    counted: 'size',
    metric: (sku) => `file_share_t_${sku}_gbm`,
    feature: (sku) => `File share (${sku}), GiB`,
    skuField: 'file_share_type',
  },
  floatingip: once('floating_min', 'Floating IP address'),
  image: { counted: 'size', metric: () => 'image_gbm', feature: () => 'Image, GiB' },
  instance: machine('Instance'),
  load_balancer: machine('Load balancer'),
  log_index: { counted: 'size', metric: () => 'log_index_gbm', feature: () => 'Logs, GiB' },
  snapshot: {
    counted: 'size',
    metric: (sku) => `snap_t_${sku}_gbm`,
    feature: (sku) => `Snapshot of a volume (${sku}), GiB`,
    skuField: 'volume_type',
  },
  volume: {
    counted: 'size',
    metric: (sku) => `volume_t_${sku}_gbm`,
    feature: (sku) => `Volume (${sku}), GiB`,
    skuField: 'volume_type',
  },
};

function machine(what: string) {
  return {
    counted: 'time',
    metric: (sku: string) => `${sku}_min`,
    feature: (sku: string) => `${what} ${sku}`,
    skuField: 'flavor',
  } as const;
}

function once(metric: string, feature: string) {
  return { counted: 'time', metric: () => metric, feature: () => feature } as const;
}

const UNITS = { time: 'seconds', size: 'gib_seconds', bytes: 'bytes' } as const;
const BILLED_UNITS = { time: 'minutes', size: 'gbminutes', bytes: 'bytes' } as const;

/** Returns the unit in which statements and invoices count it. */
export const unitOf = (type: UsedType): (typeof UNITS)[keyof typeof UNITS] => UNITS[KINDS[type].counted];

export function featureOf({ type, sku }: Shown): string {
  return KINDS[type].feature(sku);
}

export function presentedTotal({ type, sku, region_id, uses }: UsedInTotal): UsageTotal {
  const { counted, metric, skuField } = KINDS[type];
  return {
    type,
    region: region_id,
    region_id,
    billing_metric_name: metric(sku),
    billing_value: billedValueOf(type, uses),
    billing_value_unit: BILLED_UNITS[counted],
    ...(skuField && { [skuField]: sku }),
    ...(type === 'egress_traffic' && { instance_type: sku === 'virtual' ? 'vm' : 'baremetal' }),
  };
}

export function presentedResource(row: UsedResource): UsedResourceAnswer {
  const { type, last } = row;
  const { details } = last;
  const isAddress = type === 'external_ip';
  const seen = {
    ...presentedTotal(row),
    project_id: row.project_id,
    first_seen: isoSeconds(row.first_seen),
    last_seen: isoSeconds(row.last_seen),
  };
  if (type === 'egress_traffic') {
    return {
      ...seen,
      vm_id: details?.attached_to_vm,
      instance_name: last.name,
      port_id: row.resource_id,
      tags: tagsOf(last.tags),
      size_unit: 'bytes',
    } as UsedResourceAnswer;
  }
  return {
    ...seen,
    ...(!isAddress && {
      uuid: type === 'log_index' ? null : row.resource_id,
      last_name: last.name ?? '',
    }),
    ...(!isAddress && type !== 'log_index' && { tags: tagsOf(last.tags) }),
    ...sizeOf(type, last),
    ...((isAddress || type === 'volume') && { attached_to_vm: last.attached_to_vm }),
    ...(type === 'snapshot' && { source_volume_uuid: details?.source_volume_uuid }),
    ...((isAddress || type === 'floatingip') && { ip_address: details?.ip_address }),
    ...(isAddress && {
      port_id: details?.port_id,
      subnet_id: details?.subnet_id,
      network_id: details?.network_id,
    }),
  } as UsedResourceAnswer;
}

function sizeOf(type: UsedType, { amount, details }: UsedResource['last']) {
  if (KINDS[type].counted !== 'size') return {};
  if (details?.size === undefined) return { last_size: amount, size_unit: 'GiB' };
  // Nobody may know the size of an image from an address. It counts as 1 GiB.
  return { last_size: details.size ?? 0, size_unit: 'bytes' };
}

function tagsOf(tags: Record<string, string> | null): Record<string, string>[] | null {
  return tags && Object.entries(tags).map(([key, value]) => ({ [key]: value }));
}
