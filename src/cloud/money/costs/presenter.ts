import { isoSeconds } from '../../../lib/time.ts';
import { unitsOf } from './costing.ts';
import type { UsageTotal, UsedResource as UsedResourceAnswer, UsedType } from './schema.ts';
import type { UsedInTotal, UsedResource } from './store.ts';

type Shown = Pick<UsedInTotal, 'sku' | 'type'>;

/** How each type is counted and called. What has a size is counted in GiB minutes. */
const KINDS: Record<
  UsedType,
  { sized: boolean; metric(sku: string): string; feature(sku: string): string; skuField?: keyof UsageTotal }
> = {
  baremetal: machine('Bare metal server'),
  external_ip: once('externalip_min', 'Public IP address'),
  file_share: {
    sized: true,
    metric: (sku) => `file_share_t_${sku}_gbm`,
    feature: (sku) => `File share (${sku}), GiB`,
    skuField: 'file_share_type',
  },
  floatingip: once('floating_min', 'Floating IP address'),
  image: { sized: true, metric: () => 'image_gbm', feature: () => 'Image, GiB' },
  instance: machine('Instance'),
  load_balancer: machine('Load balancer'),
  log_index: { sized: true, metric: () => 'log_index_gbm', feature: () => 'Logs, GiB' },
  snapshot: {
    sized: true,
    metric: (sku) => `snap_t_${sku}_gbm`,
    feature: (sku) => `Snapshot of a volume (${sku}), GiB`,
    skuField: 'volume_type',
  },
  volume: {
    sized: true,
    metric: (sku) => `volume_t_${sku}_gbm`,
    feature: (sku) => `Volume (${sku}), GiB`,
    skuField: 'volume_type',
  },
};

function machine(what: string) {
  return {
    sized: false,
    metric: (sku: string) => `${sku}_min`,
    feature: (sku: string) => `${what} ${sku}`,
    skuField: 'flavor',
  } as const;
}

function once(metric: string, feature: string) {
  return { sized: false, metric: () => metric, feature: () => feature };
}

/** Whether so many GiB of it are used. */
export const isSized = (type: UsedType): boolean => KINDS[type].sized;

export function featureOf({ type, sku }: Shown): string {
  return KINDS[type].feature(sku);
}

export function presentedTotal({ type, sku, region_id, uses }: UsedInTotal): UsageTotal {
  const { sized, metric, skuField } = KINDS[type];
  return {
    type,
    region: region_id,
    region_id,
    billing_metric_name: metric(sku),
    billing_value: unitsOf(uses),
    billing_value_unit: sized ? 'gbminutes' : 'minutes',
    ...(skuField && { [skuField]: sku }),
  };
}

export function presentedResource(row: UsedResource): UsedResourceAnswer {
  const { type, last } = row;
  const { details } = last;
  const isAddress = type === 'external_ip';
  return {
    ...presentedTotal(row),
    project_id: row.project_id,
    first_seen: isoSeconds(row.first_seen),
    last_seen: isoSeconds(row.last_seen),
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
  if (!KINDS[type].sized) return {};
  if (details?.size === undefined) return { last_size: amount, size_unit: 'GiB' };
  // Nobody may know the size of an image from an address. It counts as 1 GiB.
  return { last_size: details.size ?? 0, size_unit: 'bytes' };
}

function tagsOf(tags: Record<string, string> | null): Record<string, string>[] | null {
  return tags && Object.entries(tags).map(([key, value]) => ({ [key]: value }));
}
