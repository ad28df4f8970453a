import { metadataTwice } from '../../../lib/legacy-metadata.ts';
import { commonFields } from '../../../lib/resource-answer.ts';
import { offsetTimestamp } from '../../../lib/timestamps.ts';
import type { OfferPrice } from '../../ground/catalog/price-schema.ts';
import type { Image } from '../../ground/catalog/service.ts';
import type { Scope } from '../../ground/projects/service.ts';
import type { ImageAnswer } from './schema.ts';
import type { ImageRow } from './store.ts';

/** Presents an image of the catalogue as a project sees it in a region. */
export function presentedPublicImage(
  image: Image,
  scope: Pick<Scope, 'projectId' | 'region'>,
  price: OfferPrice,
): ImageAnswer {
  const { regions: _, ...shown } = image;
  return {
    ...shown,
    status: 'active',
    visibility: 'public',
    ...price,
    tags_v2: [],
    ...metadataTwice({}),
    project_id: scope.projectId,
    region: scope.region.display_name,
    region_id: scope.region.id,
    creator_task_id: null,
    task_id: null,
    updated_at: image.created_at,
  };
}

export function presentedOwnImage(row: ImageRow, scope: Scope, price: OfferPrice): ImageAnswer {
  const { tags, ...common } = commonFields(row, scope);
  return {
    id: row.id,
    name: row.name,
    description: '',
    status: row.status,
    visibility: 'private',
    architecture: row.architecture,
    os_type: row.os_type,
    os_distro: row.os_distro ?? '',
    os_version: row.os_version ?? '',
    disk_format: 'raw',
    min_disk: row.min_disk_gib,
    min_ram: 0,
    size: row.size_bytes,
    is_baremetal: row.is_baremetal,
    ssh_key: row.ssh_key,
    hw_firmware_type: row.hw_firmware_type,
    hw_machine_type: row.hw_machine_type,
    gpu_driver: null,
    gpu_driver_type: null,
    gpu_driver_version: null,
    display_order: null,
    ...price,
    tags_v2: tags,
    ...common,
    ...metadataTwice(row.tags),
    updated_at: offsetTimestamp(row.updated_at),
  };
}
