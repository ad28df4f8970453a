import { commonFields } from '../../../lib/resource-answer.ts';
import { microsWithoutZone } from '../../../lib/timestamps.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { VOLUME_TYPES } from './legacy.ts';
import type { FileShareAnswer } from './schema.ts';
import type { FileShareRow } from './store.ts';
import { vastNetwork } from './vast-network.ts';

export function presentedShare(row: FileShareRow, scope: Scope): FileShareAnswer {
  const network = networkOf(row);
  return {
    id: row.id,
    name: row.name,
    size: row.size_gib,
    protocol: row.protocol,
    status: row.status,
    type_name: row.type_name,
    volume_type: VOLUME_TYPES[row.type_name],
    share_settings: settingsOf(row),
    connection_point: row.connection_point,
    ...network,
    network,
    share_network_name: row.type_name === 'vast' ? null : `file-share-${row.id}`,
    ...commonFields(row, scope),
    metadata: row.tags,
    created_at: microsWithoutZone(row.created_at),
  };
}

function networkOf(row: FileShareRow): FileShareAnswer['network'] {
  const { network_id, network_name, subnet_id, subnet_name } = row;
  // All four are set for a standard share.
  if (network_id === null || subnet_id === null) return vastNetwork(row.region_id);
  return { network_id, network_name: network_name ?? '', subnet_id, subnet_name: subnet_name ?? '' };
}

function settingsOf(row: FileShareRow): FileShareAnswer['share_settings'] {
  if (row.type_name === 'standard') return { type_name: 'standard' };
  return {
    type_name: 'vast',
    allowed_characters: row.allowed_characters,
    path_length: row.path_length,
    root_squash: row.root_squash ?? true,
    trash_access: false,
  };
}
