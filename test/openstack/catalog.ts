import fs from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import type { TestProject } from './project.ts';

/** The flavors, image and volume types of the rig. */
const FLAVOR = 'g1-standard-1-2';
const VOLUME_TYPE = 'standard';

interface RegionEntry {
  id: number;
  [field: string]: unknown;
}

/**
 * Writes a copy of the catalogue into the folder, whose first region has its networks, machines and disks in the project. All its flavors and images
 * are those of the rig. Clusters and file shares stay simulated. Returns the folder of the catalogue.
 */
export function catalogWith(
  { clouds, externalNetworkId }: Pick<TestProject, 'clouds' | 'externalNetworkId'>,
  imageId: string,
  { like, folder }: { like: string; folder: string },
): string {
  const catalog = path.join(folder, 'catalog');
  fs.cpSync(like, catalog, { recursive: true });
  const file = path.join(folder, 'clouds.yaml');
  fs.writeFileSync(file, clouds, { mode: 0o600 });
  const read = (name: string) => parse(fs.readFileSync(path.join(catalog, name), 'utf8'));
  const write = (name: string, content: object) => fs.writeFileSync(path.join(catalog, name), stringify(content));
  const all = (ids: readonly string[], theirs: string) => Object.fromEntries(ids.map((id) => [id, theirs]));
  const { flavors } = read('flavors.yaml') as { flavors: { flavor_id: string }[] };
  const { images } = read('images.yaml') as { images: { id: string }[] };
  const { regions } = read('regions.yaml') as { regions: RegionEntry[] };
  const first = regions.find(({ id }) => id === 1);
  const types = first?.available_volume_types as string[];
  write('backends.yaml', {
    backends: [
      { name: 'simulated', kind: 'simulated' },
      {
        name: 'cloud',
        kind: 'openstack',
        secrets: { clouds: file },
        settings: {
          external_network: externalNetworkId,
          flavors: all(
            flavors.map(({ flavor_id }) => flavor_id),
            FLAVOR,
          ),
          images: all(
            images.map(({ id }) => id),
            imageId,
          ),
          volume_types: all(types, VOLUME_TYPE),
          services: ['barbican', 'octavia'],
        },
      },
    ],
  });
  Object.assign(first as RegionEntry, {
    backends: { network: 'cloud', compute: 'cloud', storage: 'cloud' },
    external_network_id: externalNetworkId,
    external_networks: [
      { id: externalNetworkId, name: 'external', prefixes: [{ cidr: '198.19.0.0/16', last: '198.19.199.255' }] },
    ],
  });
  write('regions.yaml', { regions });
  return catalog;
}
