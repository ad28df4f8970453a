import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { ClusterObservation, ClusterSpec } from '../../src/backends/contract/specs.ts';
import { attempt } from '../../src/lib/errors.ts';
import { isUuid } from '../../src/lib/ids.ts';
import { FILES, type HostedCluster, urlOf } from './files.ts';
import { writeKeys } from './keys.ts';
import { freePorts, keepPort } from './ports.ts';
import { readJson, writeJson, writeOrders, writeText } from './supervisor/files.ts';

/** Left-over drafts are removed after this time. */
const DRAFT_MS = 300_000;

export const folderOf = (clusters: string, id: string): string => path.join(clusters, id);

export function findCluster(clusters: string, id: string): HostedCluster | undefined {
  return readJson(path.join(folderOf(clusters, id), FILES.cluster));
}

export function keepCluster(clusters: string, cluster: HostedCluster): void {
  writeJson(path.join(folderOf(clusters, cluster.id), FILES.cluster), cluster);
}

/** Keeps the file that the API server reads again when it changes. */
export function keepAuthentication(clusters: string, { id }: HostedCluster, text: string | undefined): void {
  const file = path.join(folderOf(clusters, id), FILES.authentication);
  if (text === undefined || attempt(() => fs.readFileSync(file, 'utf8')) === text) return;
  writeText(file, text);
}

export function listClusters(clusters: string): HostedCluster[] {
  const names = attempt(() => fs.readdirSync(clusters)) ?? [];
  return names.filter(isUuid).flatMap((id) => findCluster(clusters, id) ?? []);
}

/** Creates the folder of all clusters, closed to other users. */
export function makeClustersFolder(clusters: string): void {
  fs.mkdirSync(clusters, { recursive: true, mode: 0o700 });
  fs.chmodSync(clusters, 0o700);
}

/** Makes the folder of a cluster with all its keys, unless another process does so first. */
export async function makeCluster(
  clusters: string,
  given: Omit<HostedCluster, 'port'>,
  spec: ClusterSpec,
  { ports, signal }: { ports: { from: number; to: number }; signal: AbortSignal },
): Promise<void> {
  makeClustersFolder(clusters);
  const port = await keepPort(clusters, given, ports);
  const cluster: HostedCluster = { ...given, port };
  const draft = path.join(clusters, `.draft-${randomUUID()}`);
  fs.mkdirSync(draft, { mode: 0o700 });
  await writeKeys(draft, cluster, spec);
  writeJson(path.join(draft, FILES.cluster), cluster);
  writeOrders(draft, { processes: [], removing: false });
  try {
    signal.throwIfAborted();
    fs.renameSync(draft, folderOf(clusters, given.id));
  } catch (error) {
    fs.rmSync(draft, { recursive: true });
    freePorts(clusters, given.id, findCluster(clusters, given.id)?.port);
    // Another process may have been faster, and have another port.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

/** Removes the folder of a cluster of which nothing runs any more. */
export function removeCluster(clusters: string, id: string): void {
  const gone = path.join(clusters, `.gone-${randomUUID()}`);
  // If another process is faster, it does the rest as well.
  if (attempt(() => fs.renameSync(folderOf(clusters, id), gone) ?? true) === undefined) return;
  fs.rmSync(gone, { recursive: true, force: true });
  freePorts(clusters, id);
}

/** Removes what interrupted calls have left. */
export function tidy(clusters: string): void {
  const names = attempt(() => fs.readdirSync(clusters)) ?? [];
  for (const name of names.filter((each) => /^\.(draft|gone)-/.test(each))) {
    const folder = path.join(clusters, name);
    const about = attempt(() => fs.statSync(folder));
    if (about && Date.now() - about.ctimeMs > DRAFT_MS) fs.rmSync(folder, { recursive: true, force: true });
  }
}

export function observationOf(clusters: string, cluster: HostedCluster): ClusterObservation {
  const read = (file: string) => fs.readFileSync(path.join(folderOf(clusters, cluster.id), file), 'utf8');
  return {
    endpoint: urlOf(cluster),
    caCertificate: read(FILES.caCertificate),
    clientCertificate: read(FILES.adminCertificate),
    secret: { caKey: read(FILES.caKey), clientKey: read(FILES.adminKey) },
  };
}
