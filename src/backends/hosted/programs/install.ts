import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { lockFile } from '../../../lib/file-lock.ts';
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
  reporting: { say: (line: string) => void; signal: AbortSignal },
): Promise<void> {
  // Before 300 MB are fetched.
  if (sources.kwok !== undefined) fs.accessSync(sources.kwok, fs.constants.R_OK);
  fs.mkdirSync(programs, { recursive: true });
  const lock = lockFile(path.join(programs, '.lock'));
  if (!lock) throw new Error(`Another installation in ${programs} is going on`);
  try {
    await install(version, programs, sources, reporting);
  } finally {
    lock.release();
  }
}

async function install(
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
  const etcd = `etcd-${ETCD_VERSION}-linux-${architecture}`;
  const archive = path.join(draft, `${etcd}.tar.gz`);
  const etcdRelease = `${sources.etcdUrl}/${ETCD_VERSION}`;
  await fetchFile(`${etcdRelease}/${etcd}.tar.gz`, archive, `${etcdRelease}/SHA256SUMS`);
  for (const name of PROGRAMS.filter((each) => each !== 'etcd')) {
    const url = `${sources.kubernetesUrl}/${version}/bin/linux/${architecture}/${name}`;
    await fetchFile(url, path.join(draft, name), `${url}.sha256`);
  }
  // Again if need be: who was interrupted here left a part of it.
  unpack(archive, draft, `${etcd}/etcd`);
  for (const name of fs.readdirSync(draft)) {
    if (PROGRAMS.some((program) => program === name)) fs.chmodSync(path.join(draft, name), 0o755);
    else fs.rmSync(path.join(draft, name));
  }
  writeSums(draft);
  if (sources.kwok === undefined) say('Without kwok, clusters have no nodes: give it with --kwok.');
  else addKwok(draft, sources.kwok);
  // Control planes that run from a damaged folder keep their files.
  fs.rmSync(folder, { recursive: true, force: true });
  fs.renameSync(draft, folder);
  say(`Kubernetes ${version} is in ${folder}.`);

  async function fetchFile(url: string, file: string, sums: string): Promise<void> {
    say(url);
    await download(url, file, await checksumOf(sums, path.basename(file), signal), signal);
  }
}

/** Unpacks one file of the archive. */
function unpack(archive: string, folder: string, member: string): void {
  const words = ['-xzf', archive, '-C', folder, '--strip-components=1', member];
  const { status, stderr, error } = spawnSync('tar', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${archive} can't be unpacked: ${error?.message ?? stderr.trim()}`);
}

/** A program that runs can't be overwritten, but it can be replaced. */
function addKwok(folder: string, from: string): void {
  const draft = path.join(folder, '.kwok');
  fs.copyFileSync(from, draft);
  fs.chmodSync(draft, 0o755);
  fs.renameSync(draft, path.join(folder, KWOK));
  writeSums(folder);
}
