import { createHash } from 'node:crypto';

/**
 * What a VAST share says of its network. It is none of the project's: the storage of a region is reached through a
 * network of the platform. Clients want a UUID all the same, so it has one, always the same.
 */
export function vastNetwork(regionId: number) {
  return {
    network_id: uuidFor(`network of VAST shares in region ${regionId}`),
    network_name: 'vast',
    subnet_id: uuidFor(`subnet of VAST shares in region ${regionId}`),
    subnet_name: 'vast',
  };
}

/** The bits that say version 4 are set, which some clients look at. */
function uuidFor(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join('-');
}
