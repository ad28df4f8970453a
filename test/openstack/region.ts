import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import type pg from 'pg';
import { pino } from 'pino';
import { Type } from 'typebox';
import { expect } from 'vitest';
import { temporaryFolder } from '../acceptance/processes.ts';
import { createDatabase } from '../support/databases.ts';
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

/** Asserts that what is wanted in the first region is in the project, and nothing twice, and nothing else. */
export async function assertAsWanted({ clouds, externalNetworkId, api }: TestProject, pool: pg.Pool): Promise<void> {
  const listed: string[] = [];
  const call = { log: pino({ level: 'silent' }), signal: new AbortController().signal };
  for await (const { kind, id } of openBackend(clouds, externalNetworkId).list(call)) listed.push(`${kind} ${id}`);
  const { rows } = await pool.query<{ kind: string; id: string }>(
    'select kind, id from wants where region_id = 1 and spec is not null and kind = any($1)',
    [KINDS],
  );
  expect(listed.toSorted()).toEqual(rows.map(({ kind, id }) => `${kind} ${id}`).toSorted());
  // What has lost its mark is in no list of ours.
  const ofKind = (kind: string) => listed.filter((one) => one.startsWith(`${kind} `)).length;
  for (const [service, path, kind] of [
    ['compute', '/servers', 'machine'],
    ['volume', '/volumes', 'volume'],
  ] as const) {
    expect((await api.list(service, path, Named)).length, kind).toBe(ofKind(kind));
  }
}
