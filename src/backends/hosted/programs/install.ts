import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { checksumOf, download } from './download.ts';
import { KWOK, PROGRAMS, wholeFolder, writeSums } from './folders.ts';

/** Serves every version of Kubernetes that this product offers. */
const ETCD_VERSION = 'v3.6.8';
const ARCHITECTURES: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };

export interface Sources {
  /** Where the releases of Kubernetes are. */
  kubernetesUrl: string;
  /** Where those of etcd are. */
  etcdUrl: string;
  /** A kwok on this machine, for the nodes. */
  kwok?: string | undefined;
}

/**
 * Installs the programs of a version from their official releases, each against its checksum. Who is interrupted goes on
 * where it ended. The folder of the version appears when all is there.
 */
export async function installVersion(
  version: string,
  programs: string,
  sources: Sources,
  { say, signal }: { say: (line: string) => void; signal: AbortSignal },
): Promise<void> {
  const folder = path.join(programs, version);
  const draft = path.join(programs, `.${version}.draft`);
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined) throw new Error(`There are no programs of Kubernetes for ${process.arch}`);
  if (wholeFolder(folder)) {
    if (sources.kwok !== undefined) addKwok(folder, sources.kwok);
    return say(`Kubernetes ${version} is in ${folder}.`);
  }
  fs.mkdirSync(draft, { recursive: true });
  for (const name of PROGRAMS) await fetchProgram(name);
  for (const name of fs.readdirSync(draft)) fs.chmodSync(path.join(draft, name), 0o755);
  writeSums(draft);
  if (sources.kwok === undefined) say('Without kwok, clusters have no nodes: give it with --kwok.');
  else addKwok(draft, sources.kwok);
  // Control planes that run from a damaged folder keep their files.
  fs.rmSync(folder, { recursive: true, force: true });
  fs.renameSync(draft, folder);
  say(`Kubernetes ${version} is in ${folder}.`);

  async function fetchProgram(name: (typeof PROGRAMS)[number]): Promise<void> {
    const isThere = fs.existsSync(path.join(draft, name));
    if (isThere) return;
    if (name === 'etcd') return fetchEtcd();
    const url = `${sources.kubernetesUrl}/${version}/bin/linux/${architecture}/${name}`;
    say(url);
    await download(url, path.join(draft, name), await checksumOf(`${url}.sha256`, name, signal), signal);
  }

  async function fetchEtcd(): Promise<void> {
    const base = `etcd-${ETCD_VERSION}-linux-${architecture}`;
    const from = `${sources.etcdUrl}/${ETCD_VERSION}`;
    const archive = path.join(draft, `${base}.tar.gz`);
    say(`${from}/${base}.tar.gz`);
    const sum = await checksumOf(`${from}/SHA256SUMS`, path.basename(archive), signal);
    await download(`${from}/${base}.tar.gz`, archive, sum, signal);
    const words = ['-xzf', archive, '-C', draft, '--strip-components=1', `${base}/etcd`];
    const { status, stderr, error } = spawnSync('tar', words, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${archive} can't be unpacked: ${error?.message ?? stderr.trim()}`);
    fs.rmSync(archive);
  }
}

/** A program that runs can't be overwritten, but it can be replaced. */
function addKwok(folder: string, from: string): void {
  const draft = path.join(folder, '.kwok');
  fs.copyFileSync(from, draft);
  fs.chmodSync(draft, 0o755);
  fs.renameSync(draft, path.join(folder, KWOK));
  writeSums(folder);
}
