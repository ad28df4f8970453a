import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Type } from 'typebox';
import { expect, vi } from 'vitest';
import { loadCatalog } from '../../src/cloud/ground/catalog/service.ts';
import { loadConfig } from '../../src/config.ts';
import { backendFindings } from '../../src/start/catalog-checks.ts';
import { MAKERS } from '../../src/start/from-settings.ts';
import { regionAdd } from '../../src/start/region-add.ts';
import { changedCatalog } from '../support/catalogs.ts';
import { ENCRYPTION_KEY } from '../support/secrets.ts';
import { startService } from '../support/service.ts';
import { newProject } from './project.ts';
import type { Rig } from './rig.ts';

/** Makes the cloud a region by the command of operators, and asks the doctor about it. */
export async function becomesRegion(rig: Rig): Promise<void> {
  const project = await newProject(rig, `region-${randomUUID()}`);
  // The addresses of the shipped regions are those of the cloud.
  const catalog = changedCatalog('regions.yaml', ({ regions = [] }) => ({
    regions: regions.map((region) => ({ ...region, external_networks: [], external_network_id: null })),
  }));
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-region-'));
  const clouds = path.join(folder, 'clouds.yaml');
  fs.writeFileSync(clouds, project.clouds, { mode: 0o600 });
  // No worker makes the default networks of projects there.
  const service = await startService({ TRADEWIND_CATALOG_DIR: catalog, TRADEWIND_WORKER_REGIONS: '1' });
  const print = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const config = loadConfig({
      DATABASE_URL: service.pool.options.connectionString ?? '',
      TRADEWIND_DATA_DIR: folder,
      TRADEWIND_CATALOG_DIR: catalog,
      TRADEWIND_ENCRYPTION_KEY: ENCRYPTION_KEY,
      TRADEWIND_LOG_LEVEL: 'silent',
    });
    const options = { kind: 'openstack', clouds, name: 'Lisbon', 'external-network': project.name, json: true };
    expect(await regionAdd.run({ config, options, stop: new AbortController().signal })).toBe(0);
    expect(JSON.parse(String(print.mock.calls.at(-1)?.[0]))).toMatchObject({
      region: 4,
      backend: 'lisbon',
      external_network: {
        id: project.externalNetworkId,
        prefixes: [{ cidr: '198.19.0.0/16', first: '198.19.0.2', last: '198.19.199.255' }],
      },
      volume_types: { found: [{ id: 'standard' }, { id: 'ssd_hiiops' }] },
      changed: true,
    });
    const read = await loadCatalog(catalog, MAKERS);
    expect(read.flavors(4).map(({ flavor_id }) => flavor_id)).toContain('g1-standard-1-2');
    expect((await backendFindings(config, read, MAKERS)).at(-1)).toMatchObject({ what: 'Backend lisbon', state: 'ok' });
    expect(await leftOvers(project.id)).toEqual([]);
  } finally {
    print.mockRestore();
    await service.stop();
    for (const made of [folder, catalog]) fs.rmSync(made, { recursive: true });
  }

  async function leftOvers(project_id: string): Promise<unknown[]> {
    const anything = Type.Unknown();
    const { api } = project;
    return (
      await Promise.all([
        api.list('network', '/networks', anything, { name: 'tradewind-check', project_id }),
        api.list('network', '/ports', anything, { name: 'tradewind-check', project_id }),
      ])
    ).flat();
  }
}
