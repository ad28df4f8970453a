// Builds the programs of Kubernetes that the tests run, from their Go modules, outside the checkout and without root:
// npx tsx scripts/build-kubernetes.ts [--if-possible] [--check]. It takes forty minutes on two cores the first time;
// later runs only check what is there. Without Go, the tests that need these programs are skipped, and each says so.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  hasKwok,
  installedVersions,
  missingPrograms,
  wholeFolder,
  writeSums,
} from '../kubernetes/hosted/programs/folders.ts';
import { buildClusterApi, CLUSTER_API_DIR } from './build-cluster-api.ts';
import { CACHE } from './cache.ts';
import { type Build, build, works } from './go-programs.ts';

/** One folder for each version, as TRADEWIND_KUBERNETES_DIR names it. */
export const KUBERNETES_DIR = path.join(CACHE, 'kubernetes');
/** Of two minors, in versions whose modules are all in the proxy; `golang.org/x` and others follow from them. */
export const BUILT_VERSIONS = ['v1.33.13', 'v1.34.4'] as const;
/** The last minor that has Slurm; later versions of it lack modules in the proxy. */
export const SLURM_VERSION = 'v1.32.5';
const CONTROL_PLANE = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
const ETCD = 'v3.6.8';
const KWOK = 'v0.7.0';

function kubernetes(version: string, programs: readonly string[]): Build {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)\./.exec(version) ?? [];
  const stamp = 'k8s.io/component-base/version.';
  return {
    module: 'k8s.io/kubernetes',
    version,
    packages: Object.fromEntries(programs.map((name) => [name, `k8s.io/kubernetes/cmd/${name}`] as const)),
    stamps: {
      [`${stamp}gitVersion`]: version,
      [`${stamp}gitMajor`]: major,
      [`${stamp}gitMinor`]: minor,
      [`${stamp}gitTreeState`]: 'clean',
    },
  };
}

const SHARED: Build[] = [
  {
    module: 'go.etcd.io/etcd/server/v3',
    version: ETCD,
    packages: { etcd: 'go.etcd.io/etcd/server/v3' },
    stamps: {},
  },
  {
    module: 'sigs.k8s.io/kwok',
    version: KWOK,
    packages: { kwok: 'sigs.k8s.io/kwok/cmd/kwok' },
    stamps: { 'sigs.k8s.io/kwok/pkg/consts.Version': KWOK },
  },
];

/** Makes the folder of a version whole, or changes nothing. */
function buildVersion(version: string, programs: readonly string[]): void {
  const folder = path.join(KUBERNETES_DIR, version);
  const draft = path.join(KUBERNETES_DIR, `.${version}.draft`);
  fs.mkdirSync(draft, { recursive: true });
  for (const each of [...SHARED, kubernetes(version, programs)]) {
    // A draft is kept: who was interrupted goes on with the next program.
    const missing = Object.entries(each.packages).filter(([name]) => !works(path.join(draft, name)));
    if (missing.length > 0) build({ ...each, packages: Object.fromEntries(missing) }, draft);
  }
  const faults = missingPrograms(draft);
  if (faults.length > 0) throw new Error(`${draft} lacks ${faults.join(', ')}`);
  writeSums(draft);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.renameSync(draft, folder);
}

/** Whether all is there that this builds. */
export function isBuilt(): boolean {
  const installed = installedVersions(KUBERNETES_DIR);
  const wanted = [...BUILT_VERSIONS, SLURM_VERSION];
  const inFolders = wanted.every((each) => installed.includes(each) && hasKwok(path.join(KUBERNETES_DIR, each)));
  return inFolders && fs.existsSync(CLUSTER_API_DIR);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  fs.mkdirSync(KUBERNETES_DIR, { recursive: true });
  const { exitCode } = process;
  const keep = (version: string, programs: readonly string[]) =>
    attempt(`Kubernetes ${version}`, KUBERNETES_DIR, () => {
      if (!wholeFolder(path.join(KUBERNETES_DIR, version))) buildVersion(version, programs);
    });
  for (const version of BUILT_VERSIONS) keep(version, [...CONTROL_PLANE, 'kubectl']);
  attempt('Cluster API', CACHE, buildClusterApi);
  keep(SLURM_VERSION, CONTROL_PLANE);
  if (process.argv.includes('--if-possible')) process.exitCode = exitCode;
}

function attempt(what: string, where: string, make: () => void): void {
  try {
    make();
    console.log(`${what} is in ${where}.`);
  } catch (error) {
    const reason = (error as Error).message;
    console.log(`${what} was not built: ${reason}. Tests that need it are skipped, each says so.`);
    process.exitCode = 1;
  }
}
