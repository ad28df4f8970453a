import path from 'node:path';
import { isProgram } from '../../../src/lib/own-program.ts';
import { hasKwok, installedVersions } from './folders.ts';

/** Programs of util-linux that keep a control plane from running twice. */
const TOOLS = ['setpriv', 'flock'];

/** Returns what this machine lacks for running control planes. */
export function missingOf(searchPath: string): string | undefined {
  if (process.platform !== 'linux') return 'Kubernetes can only be hosted on Linux';
  const folders = searchPath.split(path.delimiter);
  const missing = TOOLS.filter((tool) => !folders.some((folder) => isProgram(path.join(folder, tool))));
  if (missing.length === 0) return undefined;
  return `the programs ${missing.join(' and ')} are missing; install util-linux (Debian, Ubuntu: apt-get install util-linux)`;
}

/** Says what to do for a version, or for any. */
export function notInstalled(folder: string, version?: string): string {
  const there = installedVersions(folder);
  const command = `"npx tradewind kubernetes install --version ${version ?? 'v1.34.4'}"`;
  if (there.length === 0) return `No version of Kubernetes is installed in ${folder}; run ${command}.`;
  return `Kubernetes ${version} isn't installed here. Choose one of ${there.join(', ')}, or have the operator run ${command}.`;
}

/** Says which versions are there, and which of them have no nodes. */
export function aboutPrograms(folder: string): string {
  const versions = installedVersions(folder).map((version) =>
    hasKwok(path.join(folder, version)) ? version : `${version} (without kwok, so without nodes)`,
  );
  return versions.length === 0 ? notInstalled(folder) : `Kubernetes ${versions.join(', ')} in ${folder}`;
}
