import { PREFIX } from '../rendering/objects.ts';
import type { LiveObject } from './client.ts';

const HASH = `${PREFIX}/configuration-hash`;
/** Starts once more than this many times before it counts as crashing: something it needs may have come late. */
const FORGIVEN_CRASHES = 1;
/** Reasons for which no pod will ever be made. Others pass, such as a service account that was made a moment ago. */
const FINAL_FAILURE = /exceeded quota|denied (?:the )?request|violates PodSecurity/;

/** How far a Deployment or DaemonSet is. */
export type Rollout = { state: 'done' } | { state: 'going'; doing: string } | Stuck;
export interface Stuck {
  state: 'stuck';
  why: string;
  /** A container that crashed and left no last words. */
  silent?: { pod: LiveObject; container: string };
}

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

interface Workload {
  spec: { replicas?: number; template: { metadata: { annotations?: Record<string, string> } } };
  status?: Partial<Record<string, number>> & { conditions?: Condition[] };
}

interface Container {
  name: string;
  restartCount: number;
  state?: { waiting?: { reason?: string; message?: string } };
  lastState?: { terminated?: { exitCode?: number; reason?: string; message?: string } };
}

interface PodStatus {
  conditions?: Condition[];
  initContainerStatuses?: Container[];
  containerStatuses?: Container[];
}

/** Judges by what the cluster reports; `events` are those of pods that could not be made. */
export function rolloutOf(workload: LiveObject, pods: readonly LiveObject[], events: readonly string[]): Rollout {
  const { spec, status = {} } = workload as unknown as Workload;
  const title = titleOf(workload);
  const seen = status.observedGeneration ?? 0;
  if (seen < (workload.metadata.generation ?? 0)) return { state: 'going', doing: `${title}: not noticed yet` };
  const { counts, complete } = countsOf(workload.kind, spec, status);
  if (complete) return { state: 'done' };
  const hash = spec.template.metadata.annotations?.[HASH];
  const ours = pods.filter(({ metadata }) => metadata.annotations?.[HASH] === hash);
  const crash = ours.flatMap((pod) => crashOf(pod) ?? [])[0];
  if (crash) return { ...crash, why: `${title} does not run: ${crash.why}` };
  const failure = conditionOf(status, 'ReplicaFailure', 'True')?.message ?? events[0];
  if (failure !== undefined && FINAL_FAILURE.test(failure)) {
    return { state: 'stuck', why: `${title} gets no pod: ${failure}` };
  }
  const obstacle = failure ?? ours.flatMap((pod) => obstacleOf(pod) ?? [])[0];
  const late = conditionOf(status, 'Progressing', 'False')?.reason === 'ProgressDeadlineExceeded';
  if (late) return { state: 'stuck', why: `${title} does not get ready: ${obstacle ?? 'no reason is given'}` };
  return { state: 'going', doing: `${title}: ${counts}${obstacle ? `; ${obstacle}` : ''}` };
}

export function titleOf({ kind, metadata: { name, namespace } }: Pick<LiveObject, 'kind' | 'metadata'>): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

function countsOf(kind: string, spec: Workload['spec'], status: NonNullable<Workload['status']>) {
  const isDaemon = kind === 'DaemonSet';
  const wanted = (isDaemon ? status.desiredNumberScheduled : (spec.replicas ?? 1)) ?? 0;
  const updated = (isDaemon ? status.updatedNumberScheduled : status.updatedReplicas) ?? 0;
  const available = (isDaemon ? status.numberAvailable : status.availableReplicas) ?? 0;
  // The old pods of a Deployment go last.
  const former = isDaemon ? 0 : (status.replicas ?? 0) - updated;
  return {
    counts: `${updated} of ${wanted} updated, ${available} available`,
    complete: updated === wanted && available === wanted && former === 0,
  };
}

function crashOf(pod: LiveObject): Stuck | undefined {
  for (const container of containersOf(pod)) {
    const reason = container.state?.waiting?.reason;
    if (reason === 'InvalidImageName') {
      return { state: 'stuck', why: `container ${container.name}: ${waitingText(container)}` };
    }
    if (reason !== 'CrashLoopBackOff' || container.restartCount <= FORGIVEN_CRASHES) continue;
    const { exitCode, reason: end, message } = container.lastState?.terminated ?? {};
    const how = [exitCode === undefined ? [] : `exit code ${exitCode}`, end ?? []].flat().join(', ');
    const why = `container ${container.name} keeps crashing${how && ` (${how})`}`;
    return message
      ? { state: 'stuck', why: `${why}: ${shortened(message)}` }
      : { state: 'stuck', why, silent: { pod, container: container.name } };
  }
  return undefined;
}

/** Why a pod isn't ready: what its containers wait for, or why no node takes it. */
function obstacleOf(pod: LiveObject): string | undefined {
  const waiting = containersOf(pod).find(({ state }) => state?.waiting?.message !== undefined);
  if (waiting) return `container ${waiting.name}: ${waitingText(waiting)}`;
  const unscheduled = conditionOf(pod.status as PodStatus, 'PodScheduled', 'False');
  return unscheduled?.message && shortened(unscheduled.message);
}

const waitingText = ({ state }: Container): string =>
  shortened([state?.waiting?.reason, state?.waiting?.message].filter(Boolean).join(': '));

function containersOf(pod: LiveObject): Container[] {
  const { initContainerStatuses = [], containerStatuses = [] } = (pod.status ?? {}) as PodStatus;
  return [...initContainerStatuses, ...containerStatuses];
}

function conditionOf(of: { conditions?: Condition[] } | undefined, type: string, status: string) {
  return of?.conditions?.find((condition) => condition.type === type && condition.status === status);
}

/** The end says most, and people read it in one line. */
export function shortened(text: string): string {
  const lines = text.split('\n').map((each) => each.trim());
  const line = lines.filter((each) => each !== '').join(' | ');
  return line.length > 300 ? `…${line.slice(-300)}` : line;
}
