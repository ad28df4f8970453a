import type { LiveObject } from '../applying/client.ts';
import { shortened } from '../applying/rollout.ts';

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}
interface Status {
  observedGeneration?: number;
  version?: string;
  replicas?: number;
  upToDateReplicas?: number;
  availableReplicas?: number;
  initialization?: { controlPlaneInitialized?: boolean; infrastructureProvisioned?: boolean };
  conditions?: Condition[];
}

/** Conditions that say something when they are true; the others do when they are not. */
const NEGATIVE = new Set(['Deleting', 'Paused', 'Remediating', 'RollingOut', 'ScalingDown', 'ScalingUp']);
/** What the owner of a cluster can make the most of comes first. */
const TELLING = [
  'Paused',
  'Deleting',
  'InfrastructureReady',
  'MachinesReady',
  'ControlPlaneMachinesReady',
  'ControlPlaneInitialized',
  'ScalingUp',
  'RollingOut',
  'ScalingDown',
  'Available',
];

const statusOf = ({ status = {} }: LiveObject): Status => status as Status;

/** Returns what the cluster itself waits for; undefined once it has a control plane that answers. */
export function clusterWaitsFor(cluster: LiveObject): string | undefined {
  const { infrastructureProvisioned, controlPlaneInitialized } = statusOf(cluster).initialization ?? {};
  if (infrastructureProvisioned && controlPlaneInitialized) return undefined;
  const title = infrastructureProvisioned ? 'starting the control plane' : 'preparing the infrastructure';
  return withReason(title, cluster);
}

/** Returns how far the machines of a control plane or a pool are; undefined once all are as wanted. */
export function machinesWaitFor(title: string, object: LiveObject): string | undefined {
  if (object.metadata.deletionTimestamp !== undefined) {
    return withReason(`${title}: waiting until what somebody removed is gone`, object);
  }
  const status = statusOf(object);
  const wanted = (object.spec as { replicas?: number }).replicas ?? 1;
  if ((status.observedGeneration ?? 0) < (object.metadata.generation ?? 0)) {
    return `${title}: not noticed yet`;
  }
  const { replicas = 0, upToDateReplicas = 0, availableReplicas = 0 } = status;
  if (replicas === wanted && upToDateReplicas === wanted && availableReplicas === wanted) return undefined;
  const counts = `${upToDateReplicas} of ${wanted} machines are new, ${availableReplicas} available`;
  return withReason(`${title}: ${counts}`, object);
}

/** The same for a control plane, whose machines may be as wanted before they have the version. */
export function controlPlaneWaitsFor(object: LiveObject, version: string): string | undefined {
  const doing = machinesWaitFor('control plane', object);
  return doing ?? (statusOf(object).version === version ? undefined : 'control plane: waiting for its version');
}

/** Adds what Cluster API says about it. */
export function withReason(text: string, object: LiveObject): string {
  const { conditions = [] } = statusOf(object);
  for (const type of TELLING) {
    const condition = conditions.find((one) => one.type === type);
    const silent = !condition?.message || (condition.status === 'True') !== NEGATIVE.has(type);
    // A list with bullets, of machines and what each waits for.
    if (!silent) return `${text}; ${shortened(withoutBullets(condition.message ?? ''))}`;
  }
  return text;
}

function withoutBullets(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimStart().replace(/^\* /, ''))
    .join('\n');
}

export const isAvailable = (object: LiveObject): boolean =>
  statusOf(object).conditions?.some(({ type, status }) => type === 'Available' && status === 'True') ?? false;
