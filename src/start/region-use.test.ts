import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { PROGRAMS } from '../../kubernetes/hosted/programs/folders.ts';
import { clusterParts, makeCluster } from '../../test/support/clusters.ts';
import { ENCRYPTION_KEY } from '../../test/support/secrets.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { loadConfig } from '../config.ts';
import { regionUse } from './kubernetes-commands.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-region-'));
const catalog = path.join(folder, 'catalog');
const programs = path.join(folder, 'kubernetes');
const shipped = (name: string) => fs.readFileSync(path.join('catalog', name), 'utf8').split('\n');
const now = (name: string) => fs.readFileSync(path.join(catalog, name), 'utf8').split('\n');
/** The lines that the files have and the shipped ones don't. */
const added = () =>
  ['backends.yaml', 'regions.yaml'].flatMap((name) => now(name).filter((line) => !shipped(name).includes(line)));

let service: TestService;
beforeAll(async () => {
  fs.cpSync('catalog', catalog, { recursive: true });
  service = await startService({ TRADEWIND_CATALOG_DIR: catalog, TRADEWIND_KUBERNETES_DIR: programs });
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

/** Runs the command and returns what it prints. */
async function use(backend: string, options = {}, settings = {}): Promise<string> {
  const config = loadConfig({
    DATABASE_URL: service.pool.options.connectionString ?? '',
    TRADEWIND_DATA_DIR: folder,
    TRADEWIND_CATALOG_DIR: catalog,
    TRADEWIND_KUBERNETES_DIR: programs,
    TRADEWIND_ENCRYPTION_KEY: ENCRYPTION_KEY,
    TRADEWIND_LOG_LEVEL: 'silent',
    PATH: process.env.PATH,
    ...settings,
  });
  const print = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const stop = new AbortController().signal;
    expect(await regionUse.run({ config, options: { backend, ...options }, stop })).toBe(0);
    return print.mock.calls.map(([text]) => text).join('');
  } finally {
    print.mockRestore();
  }
}

async function offered(regionId: number): Promise<string[]> {
  const { body } = await service.http.get(`/cloud/v2/k8s/1/${regionId}/create_versions`);
  return body.results.map(({ version }: { version: string }) => version);
}

it('says what to install, and changes nothing, where there are no programs', async () => {
  await expect(use('hosted')).rejects.toThrow(
    /^No version of Kubernetes is installed in .*; run "npx tradewind kubernetes install --version v1\.34\.4"\. Nothing was changed\.\nkwok plays the nodes/,
  );
  fs.mkdirSync(path.join(programs, 'v1.20.0'), { recursive: true });
  for (const name of PROGRAMS) fs.writeFileSync(path.join(programs, 'v1.20.0', name), '#!/bin/sh\n', { mode: 0o755 });
  await expect(use('hosted')).rejects.toThrow(
    /^Kubernetes v1\.20\.0 is installed in .*, but the catalogue offers v1\.31/,
  );
  await expect(use('hosted', {}, { PATH: '/nowhere' })).rejects.toThrow('install util-linux');
  expect(added()).toEqual([]);
});

it('makes the clusters of a region real, and simulated again, without touching the rest of the files', async () => {
  fs.renameSync(path.join(programs, 'v1.20.0'), path.join(programs, 'v1.34.4'));
  const text = await use('hosted', { region: '2' });
  expect(text).toContain('Clusters in Cape Merrin (region 2) are made by the backend hosted: real control planes');
  expect(text).toContain('The region now offers Kubernetes v1.34.4.\nClusters of v1.34.4 get no nodes: kwok');
  expect(text).toContain(`Changed backends.yaml and regions.yaml in ${catalog}.`);
  expect(text).toMatch(/is now in force\.\n1 of 1 process uses it\.\n$/);
  expect(added()).toEqual(['  - {name: hosted, kind: hosted}', '    backends: {kubernetes: hosted}']);
  expect(await offered(2)).toEqual(['v1.34.4']);
  expect((await offered(1)).length).toBeGreaterThan(1);

  expect(await use('hosted', { region: '2' })).toMatch(/said so already\.\n.*was already in force/);
  expect(JSON.parse(await use('simulated', { region: '2', json: true }))).toMatchObject({
    region: 2,
    backend: 'simulated',
    files: ['regions.yaml'],
    changed: true,
  });
  expect(now('regions.yaml')).toEqual(shipped('regions.yaml'));
  expect((await offered(2)).length).toBeGreaterThan(1);
});

it('is refused while the region has clusters, and puts the files back', async () => {
  const { body } = await clusterParts(service);
  await makeCluster(service.http, body());
  const before = now('regions.yaml');
  await expect(use('hosted')).rejects.toThrow(/Can't apply the catalogue[\s\S]*kubernetes/);
  expect(now('regions.yaml')).toEqual(before);
});

it('says which backends and regions there are', async () => {
  await expect(use('cluster-api')).rejects.toThrow(/needs settings, .*docs\/kubernetes\.md.* Nothing was changed\.$/);
  await expect(use('hostet')).rejects.toThrow(
    'There is no backend hostet: name one of simulated, hosted, cluster-api, openstack. Nothing was changed.',
  );
  await expect(use('hosted', { region: '9' })).rejects.toThrow('There is no region 9. The catalogue has 1, 2, 3.');
});

it('says where to put the catalogue if it may not be written, and that there is no database yet', async () => {
  vi.spyOn(fs, 'writeFileSync').mockImplementation((file) => {
    if (String(file).startsWith(catalog)) throw new Error('EACCES: permission denied');
  });
  await expect(use('hosted', { region: '3' })).rejects.toThrow(/permission denied.*TRADEWIND_CATALOG_DIR$/);
  vi.mocked(fs.writeFileSync).mockRestore();
  await expect(use('hosted', { region: '3' }, { DATABASE_URL: '' })).rejects.toThrow('There is no database in');
});
