import { createHash } from 'node:crypto';

/**
 * The network that a VAST share shows. It doesn't belong to the project: clients reach the storage of a region through
 * a network of the platform. As clients expect UUIDs, the network has one, which never changes.
 */
export function vastNetwork(regionId: number) {
  return {
    network_id: uuidFor(`network of VAST shares in region ${regionId}`),
    network_name: 'vast',
    subnet_id: uuidFor(`subnet of VAST shares in region ${regionId}`),
    subnet_name: 'vast',
  };
}

/** Makes a UUID from a text. It has the bits of version 4, which some clients check. */
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
