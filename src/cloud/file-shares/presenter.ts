import { commonFields } from '../projects/resource-answer.ts';
import type { Scope } from '../projects/service.ts';
import type { FileShareAnswer } from './schema.ts';
import type { FileShareRow } from './store.ts';

export function presentedShare(row: FileShareRow, scope: Scope): FileShareAnswer {
  return {
    id: row.id,
    name: row.name,
    size: row.size_gib,
    protocol: row.protocol,
    status: row.status,
    type_name: row.type_name,
    volume_type: row.type_name === 'vast' ? 'vast_share_type' : 'default_share_type',
    share_settings: settingsOf(row),
    connection_point: row.connection_point,
    network_id: row.network_id ?? '',
    network_name: row.network_name ?? '',
    subnet_id: row.subnet_id ?? '',
    subnet_name: row.subnet_name ?? '',
    share_network_name: row.type_name === 'vast' ? null : `file-share-${row.id}`,
    ...commonFields(row, scope),
  };
}

function settingsOf(row: FileShareRow): FileShareAnswer['share_settings'] {
  if (row.type_name === 'standard') return { type_name: 'standard' };
  return {
    type_name: 'vast',
    allowed_characters: row.allowed_characters,
    path_length: row.path_length,
    root_squash: row.root_squash ?? true,
  };
}
