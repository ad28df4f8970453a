import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Type } from 'typebox';
import { parse, stringify } from 'yaml';
import { temporaryFolder } from '../acceptance/processes.ts';
import { createDatabase } from '../support/databases.ts';
import { newProject, removeAll, type TestProject } from './project.ts';
import type { Rig } from './rig.ts';
import { openBackend } from './scenario.ts';

/** The flavors, image and volume types of the rig. */
const FLAVOR = 'g1-standard-1-2';
const VOLUME_TYPE = 'standard';

interface RegionEntry {
  id: number;
  [field: string]: unknown;
}

const Image = Type.Object({ id: Type.String(), name: Type.String() });

export const TOKEN = '7_acceptance-secret';

export interface CloudRegion {
  project: TestProject;
  /** Of the database, with nothing in it. */
  url: string;
  /** For processes that serve the region as the first one of their catalogue. */
  settings: Record<string, string>;
  /** Removes what is left in the cloud, too. */
  drop(): Promise<void>;
}

/** Prepares a project of the cloud, a catalogue and a database for one region. */
export async function prepareRegion(rig: Rig, name: string): Promise<CloudRegion> {
  const project = await newProject(rig, `${name}-${randomUUID()}`);
  const images = await project.api.list('image', '/images', Image, { visibility: 'public', name: 'tiny' });
  const folder = temporaryFolder();
  const database = await createDatabase({ empty: true });
  return {
    project,
    url: database.url,
    settings: {
      DATABASE_URL: database.url,
      TRADEWIND_DATA_DIR: folder,
      TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
      TRADEWIND_SIMULATION_SPEED: '100',
      TRADEWIND_CATALOG_DIR: catalogWith(project, images[0]?.id ?? '', folder),
    },
    async drop() {
      await database.drop();
      await removeAll(openBackend(project.clouds, project.externalNetworkId));
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Writes a copy of the catalogue into the folder, whose first region has its networks, machines and disks in the project. All its flavors and images
 * are those of the rig. Clusters and file shares stay simulated. Returns the folder of the catalogue.
 */
function catalogWith(
  { clouds, externalNetworkId }: Pick<TestProject, 'clouds' | 'externalNetworkId'>,
  imageId: string,
  folder: string,
): string {
  const catalog = path.join(folder, 'catalog');
  fs.cpSync('catalog', catalog, { recursive: true });
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
