import { type Static, Type } from 'typebox';
import { plainSeconds } from '../../../lib/time.ts';
import { listOf, nullable, OffsetTimestamp, TextOrNull } from '../../../lib/wire.ts';
import { type Region, regionFields } from './schema.ts';

const { ddos_endpoint_id, ...required } = regionFields;

export const RegionAnswer = Type.Object(
  {
    ...required,
    available_volume_types: nullable(
      Type.Array(Type.String(), {
        description: 'Volume types of the region; null unless requested with show_volume_types=true',
      }),
    ),
    ddos_endpoint_id: Type.Optional(ddos_endpoint_id),
    created_at: OffsetTimestamp(),
    created_on: Type.String({
      deprecated: true,
      description: 'Same as created_at, in UTC but without an offset',
      examples: ['2019-12-31T23:59:59'],
    }),
    task_id: TextOrNull({ deprecated: true, description: 'Always null' }),
  },
  { title: 'Region', description: 'A region and what it offers.' },
);
export type RegionAnswer = Static<typeof RegionAnswer>;
export const RegionList = listOf(RegionAnswer, 'RegionList');

export function presentRegion(
  region: Region,
  options: { showVolumeTypes: boolean; inMaintenance: boolean },
): RegionAnswer {
  const { backend: _, backends: __, products: ___, quotas: ____, external_networks: _____, ...shown } = region;
  return {
    created_on: plainSeconds(new Date(region.created_at)),
    ...shown,
    ...(options.inMaintenance && { state: 'MAINTENANCE' as const }),
    available_volume_types: options.showVolumeTypes ? region.available_volume_types : null,
    task_id: null,
  };
}
