import type { Slurm } from '../../../../db/json-columns.ts';
import type { FieldProblem } from '../../../../lib/errors.ts';
import type { SlurmShare } from '../../../storage/file-shares/service.ts';
import type { SlurmInput } from './schema.ts';

const FIELD = 'add_ons.slurm';
const FORM_FIELDS = ['file_share_id', 'ssh_key_ids', 'worker_count'] as const;
const KUBERNETES_MINORS = ['1.31', '1.32'];

/** Whether Slurm runs on a version of Kubernetes, with or without the leading `v`. */
export function runsSlurm(kubernetesVersion: string): boolean {
  const [major, minor] = kubernetesVersion.replace(/^v/, '').split('.');
  return KUBERNETES_MINORS.includes(`${major}.${minor}`);
}

/** What Slurm depends on, as of the request's arrival. */
export interface SlurmContext {
  /** With or without the leading `v`. */
  kubernetesVersion: string;
  hasGpuPool: boolean;
  vastNfsEnabled: boolean;
  /** The file share that the request names; undefined if the project has no such share in the region. */
  fileShare: SlurmShare | undefined;
  /** The requested SSH keys that exist in the project. */
  knownSshKeyIds: ReadonlySet<string>;
}

/**
 * Returns the problems of a Slurm update. Unchanged settings aren't checked again, so that a cluster that was upgraded
 * or lost a key since can still be sent the same settings.
 */
export function slurmProblems(given: SlurmInput, current: Slurm, context: SlurmContext | undefined): FieldProblem[] {
  if (!given.enabled) {
    return FORM_FIELDS.filter((name) => given[name] !== undefined).map((name) => ({
      field: `${FIELD}.${name}`,
      message: 'Must be left out when enabled is false.',
    }));
  }
  const missing = FORM_FIELDS.filter((name) => given[name] === undefined);
  if (missing.length > 0) {
    return missing.map((name) => ({
      field: `${FIELD}.${name}`,
      message: 'This field is required when enabled is true.',
    }));
  }
  if (!context) throw new Error("Slurm settings can't be checked without their context");
  return [
    ...(current.enabled ? [] : clusterProblems(context)),
    ...workerProblems(given.worker_count ?? 0, current),
    ...shareProblems(given.file_share_id ?? '', current, context.fileShare),
    ...keyProblems(given.ssh_key_ids ?? [], current, context.knownSshKeyIds),
  ];
}

function clusterProblems(context: SlurmContext): FieldProblem[] {
  const messages: string[] = [];
  if (!runsSlurm(context.kubernetesVersion)) {
    messages.push(
      `Requires Kubernetes ${KUBERNETES_MINORS.join(' or ')}, but this cluster runs ${context.kubernetesVersion}.`,
    );
  }
  if (!context.hasGpuPool) messages.push('Requires at least one pool with a GPU flavor. Add one first.');
  if (!context.vastNfsEnabled) {
    messages.push('Requires VAST NFS (csi.nfs.vast_enabled), which can only be enabled when the cluster is created.');
  }
  return messages.map((message) => ({ field: `${FIELD}.enabled`, message }));
}

function workerProblems(wanted: number, current: Slurm): FieldProblem[] {
  const running = current.enabled ? (current.worker_count ?? 0) : 0;
  if (wanted >= running) return [];
  return [
    {
      field: `${FIELD}.worker_count`,
      message: `Can't be reduced: ${running} workers are running. Send ${running} or more.`,
    },
  ];
}

function shareProblems(id: string, current: Slurm, share: SlurmShare | undefined): FieldProblem[] {
  const field = `${FIELD}.file_share_id`;
  const standing = current.enabled ? (current.file_share_id ?? undefined) : undefined;
  if (standing !== undefined) {
    // Kubernetes changes no volume's source, and its claims are Slurm's spool and jail.
    const message = `Can't be changed while Slurm is enabled: its volumes stay on file share ${standing}. Disable Slurm first.`;
    return sameId(id, standing) ? [] : [{ field, message }];
  }
  const message = share
    ? shareFault(share)
    : `Unknown file share ${id}. Must be a VAST file share in the same project and region.`;
  return message === undefined ? [] : [{ field, message }];
}

function shareFault({ typeName, lacks }: SlurmShare): string | undefined {
  if (typeName !== 'vast') return `Must be a VAST file share, but this one is of type ${typeName}.`;
  return lacks.length === 0 ? undefined : `Must be a file share with ${lacks.join(', ')} in its share_settings.`;
}

function keyProblems(ids: readonly string[], current: Slurm, known: ReadonlySet<string>): FieldProblem[] {
  const standing = current.enabled ? (current.ssh_key_ids ?? []) : [];
  return ids.flatMap((id, index) => {
    const field = `${FIELD}.ssh_key_ids.${index}`;
    if (ids.findIndex((other) => sameId(other, id)) < index) {
      return [{ field, message: `Contains the key ${id} twice. List each key once.` }];
    }
    const found = known.has(id) || known.has(id.toLowerCase()) || standing.some((key) => sameId(key, id));
    return found ? [] : [{ field, message: `Unknown SSH key ${id}. Must be a key of this project.` }];
  });
}

/** UUIDs may come in any letter case. */
function sameId(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
