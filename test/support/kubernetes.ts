import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { hasKwok, installedVersions } from '../../kubernetes/hosted/programs/folders.ts';
import { processesOfCluster } from '../../kubernetes/hosted/supervisor/alive.ts';
import { BUILT_VERSIONS, KUBERNETES_DIR, SLURM_VERSION } from '../../scripts/build-kubernetes.ts';
import { changedCatalog } from './catalogs.ts';

export { KUBERNETES_DIR, SLURM_VERSION };
/** Of one minor and the next. */
export const VERSIONS = BUILT_VERSIONS;

/** Why tests of real clusters of these versions are skipped; undefined where the programs are there. */
export function whyWithout(versions: readonly string[]): string | undefined {
  const installed = installedVersions(KUBERNETES_DIR);
  if (versions.every((version) => installed.includes(version) && hasKwok(path.join(KUBERNETES_DIR, version)))) {
    return undefined;
  }
  return `for want of Kubernetes: run "npx tsx scripts/build-kubernetes.ts", which needs Go and forty minutes`;
}

export const whyNoKubernetes = whyWithout(VERSIONS);
if (whyNoKubernetes !== undefined) console.log(`SKIPPED, ${whyNoKubernetes}`);

const program = (): string => path.join(KUBERNETES_DIR, installedVersions(KUBERNETES_DIR).at(-1) ?? '', 'kubectl');
const LIMITS = { encoding: 'utf8', timeout: 60_000 } as const;

/** Runs the kubectl of the newest version with a kubeconfig, and returns what it prints. Throws with what it complains of. */
export function kubectl(kubeconfig: string, ...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(program(), ['--kubeconfig', kubeconfig, ...words], LIMITS);
  if (status !== 0) throw new Error(`kubectl ${words.join(' ')}: ${stderr}`);
  return stdout;
}

/** The same for tests that have a server in their own process, which must go on meanwhile. */
export async function runKubectl(kubeconfig: string, ...words: string[]): Promise<string> {
  return (await promisify(execFile)(program(), ['--kubeconfig', kubeconfig, ...words], LIMITS)).stdout;
}

/** Returns the names of the programs that run for each cluster of a folder, sorted. */
export function controlPlanes(clusters: string): Record<string, string[]> {
  const ids = fs.existsSync(clusters) ? fs.readdirSync(clusters).filter((name) => !/^\.|^supervisor/.test(name)) : [];
  return Object.fromEntries(ids.map((id) => [id, programsOf(path.join(clusters, id))]));
}

export const programsOf = (folder: string): string[] =>
  processesOfCluster(folder)
    .flatMap((pid) => {
      try {
        return path.basename(fs.readlinkSync(`/proc/${pid}/exe`));
      } catch {
        return [];
      }
    })
    .sort();

/** Of two nodes. */
export const HOSTED_POOL = {
  name: 'web',
  flavor_id: 'g1-standard-2-4',
  min_node_count: 2,
  max_node_count: 4,
  boot_volume_size: 50,
  boot_volume_type: 'ssd_hiiops',
  servergroup_policy: 'anti-affinity',
  labels: { tier: 'web' },
  taints: { dedicated: 'web:PreferNoSchedule' },
};

/** Makes a folder with the shipped catalogue in which every region has hosted clusters, by the backend `machine`. */
export const hostedCatalog = (settings: object): string =>
  catalogWithClusters({ name: 'machine', kind: 'hosted', settings });

/** Makes a folder with the shipped catalogue in which a backend has the clusters of every region. */
export function catalogWithClusters(backend: { name: string; kind: string; [member: string]: unknown }): string {
  const folder = changedCatalog('backends.yaml', ({ backends = [] }) => ({
    backends: [...backends, backend],
  }));
  change('regions.yaml', ({ regions }) => ({
    regions: regions.map((region: object) => ({ ...region, backends: { kubernetes: backend.name } })),
  }));
  change('kubernetes-versions.yaml', ({ versions }) => ({
    versions: [...new Set([SLURM_VERSION, ...VERSIONS, ...versions])],
  }));
  return folder;

  // biome-ignore lint/suspicious/noExplicitAny: a file of the catalogue
  function change(name: string, edit: (content: any) => object): void {
    const file = path.join(folder, name);
    fs.writeFileSync(file, stringify(edit(parse(fs.readFileSync(file, 'utf8')))));
  }
}
