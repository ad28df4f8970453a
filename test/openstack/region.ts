import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import type pg from 'pg';
import { pino } from 'pino';
import { type Static, Type } from 'typebox';
import { expect } from 'vitest';
import type { Service } from '../../openstack/cloud/errors.ts';
import { build, type ServeProcess, serve, temporaryFolder } from '../acceptance/processes.ts';
import { createDatabase } from '../support/databases.ts';
import { createHttpClient, type HttpClient } from '../support/http-client.ts';
import { catalogWith } from './catalog.ts';
import { newProject, removeAll, type TestProject } from './project.ts';
import type { Rig } from './rig.ts';
import { KINDS, openBackend } from './scenario.ts';

const Named = Type.Object({ id: Type.String(), name: Type.String() });

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

/**
 * Prepares a project of the cloud, a catalogue and a database for one region. `through` leads it to what stands before
 * the cloud; `like` is the folder of the catalogue without it.
 */
export async function prepareRegion(
  rig: Rig,
  name: string,
  { through = (clouds: string) => clouds, like = 'catalog' } = {},
): Promise<CloudRegion> {
  const project = await newProject(rig, `${name}-${randomUUID()}`);
  const images = await project.api.list('image', '/images', Named, { visibility: 'public', name: 'tiny' });
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
      TRADEWIND_CATALOG_DIR: catalogWith({ ...project, clouds: through(project.clouds) }, images[0]?.id ?? '', {
        like,
        folder,
      }),
    },
    async drop() {
      await database.drop();
      await removeAll(openBackend(project.clouds, project.externalNetworkId));
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface ServedRegion extends CloudRegion {
  service: ServeProcess;
  /** As the administrator of the first client. */
  http: HttpClient;
  /** Ends the process and drops the region. */
  end(): Promise<void>;
}

/** Prepares a region and serves it by one process. */
export async function serveRegion(...prepared: Parameters<typeof prepareRegion>): Promise<ServedRegion> {
  build();
  const region = await prepareRegion(...prepared);
  const service = await serve({ ...region.settings, TRADEWIND_RATE_LIMIT: '0' });
  return {
    ...region,
    service,
    http: createHttpClient(service.url, TOKEN),
    async end() {
      await service.end();
      await region.drop();
    },
  };
}

/** Asserts that what is wanted in the first region is in the project, and nothing twice, and nothing else. */
export async function assertAsWanted(
  { id: project, clouds, externalNetworkId, api }: TestProject,
  pool: pg.Pool,
): Promise<void> {
  const listed: string[] = [];
  const call = { log: pino({ level: 'silent' }), signal: new AbortController().signal };
  for await (const { kind, id } of openBackend(clouds, externalNetworkId).list(call)) listed.push(`${kind} ${id}`);
  const { rows } = await pool.query<{ kind: string; id: string }>(
    'select kind, id from wants where region_id = 1 and spec is not null and kind = any($1)',
    [KINDS],
  );
  expect(listed.toSorted()).toEqual(rows.map(({ kind, id }) => `${kind} ${id}`).toSorted());
  // Things that have lost their mark are missing in our own list. Administrators also see other projects' things in Neutron.
  const isOurs = ({ project_id = project, device_owner = '' }: Static<typeof Thing>) =>
    project_id === project && !device_owner.startsWith('network:');
  const ofKind = (kind: string) => listed.filter((one) => one.startsWith(`${kind} `)).length;
  const count = async (service: Service, path: string) => (await api.list(service, path, Thing)).filter(isOurs).length;
  expect(await count('compute', '/servers')).toBe(ofKind('machine'));
  expect(await count('volume', '/volumes')).toBe(ofKind('volume'));
  expect(await count('volume', '/snapshots')).toBe(ofKind('snapshot'));
  expect(await count('network', '/ports')).toBe(ofKind('port'));
  expect(await count('load-balancer', '/loadbalancers')).toBe(ofKind('load_balancer'));
}

const Thing = Type.Object({
  id: Type.String(),
  project_id: Type.Optional(Type.String()),
  device_owner: Type.Optional(Type.String()),
});
