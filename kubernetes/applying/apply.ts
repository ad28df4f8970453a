import { type Call, type Convergence, Refused } from '../../src/backends/contract/backend.ts';
import { type KubernetesObject, type ObjectName, OURS, type Rendering } from '../rendering/objects.ts';
import { ApiError, type Client, type ClusterAccess, createClient, type LiveObject, nameOf } from './client.ts';
import { explained, unlessGone } from './refusals.ts';
import { rolloutOf, shortened, titleOf } from './rollout.ts';

const ASK_AGAIN_MS = 500;
const CONFLICT = 409;

type Progressing = Extract<Convergence<never>, { state: 'progressing' }>;

/**
 * Makes a cluster contain what is rendered, one step further. Returns undefined once everything is there and runs.
 * Applying what is there already changes nothing, so it can be called any number of times, from anywhere.
 * @throws Refused, Unsupported and Unavailable with the reason that the cluster gives
 */
export async function applyRendering(
  access: ClusterAccess,
  rendering: Rendering,
  call: Pick<Call, 'log' | 'signal'>,
): Promise<Progressing | undefined> {
  const client = createClient(access, call.signal);
  try {
    const removing = await removeAll(client, rendering.absent);
    const live: LiveObject[] = [];
    for (const object of rendering.objects) live.push(await applyOne(client, object, call));
    for (const object of rendering.once) await createOnce(client, object);
    for (const object of rendering.parts) {
      if (await client.get(nameOf(object))) live.push(await applyOne(client, object, call));
    }
    const doing = removing ?? (await waitingFor(client, live));
    return doing === undefined ? undefined : { state: 'progressing', doing, askAgainMs: ASK_AGAIN_MS };
  } finally {
    client.close();
  }
}

/** Applies an object. Fields that somebody else has changed become ours again, which the log tells. */
export async function applyOne(
  client: Client,
  object: KubernetesObject,
  { log }: Pick<Call, 'log'>,
): Promise<LiveObject> {
  try {
    return await client.apply(object, { force: false });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== CONFLICT || error.causes.length === 0) {
      throw explained(error, object);
    }
    log.warn(
      { object: titleOf(object as LiveObject), conflicts: error.causes },
      'fields changed by others are taken back',
    );
  }
  return client.apply(object, { force: true }).catch((error: unknown) => {
    throw explained(error, object);
  });
}

async function createOnce(client: Client, object: KubernetesObject): Promise<void> {
  if (await client.get(nameOf(object))) return;
  try {
    await client.create(object);
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw explained(error, object);
  }
}

/** Returns what is still being removed. Objects without our label belong to somebody else. */
async function removeAll(client: Client, names: readonly ObjectName[]): Promise<string | undefined> {
  const left: LiveObject[] = [];
  for (const name of names) {
    const found = await client.get(name);
    const [label, value] = Object.entries(OURS)[0] ?? [];
    if (!found || found.metadata.labels?.[String(label)] !== value) continue;
    left.push(found);
    if (found.metadata.deletionTimestamp === undefined) await client.remove(name).catch(unlessGone(found));
  }
  return left[0] && `removing ${titleOf(left[0])}`;
}

/** Returns what doesn't run yet. */
async function waitingFor(client: Client, live: readonly LiveObject[]): Promise<string | undefined> {
  const workloads = live.filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet');
  const nodes = await client.list({ apiVersion: 'v1', kind: 'Node' }, { limit: '1' });
  // Without nodes nothing can run, and nothing of ours is missed.
  if (nodes.length === 0) return undefined;
  const doing: string[] = [];
  for (const workload of workloads) {
    const rollout = rolloutOf(workload, [], []);
    if (rollout.state === 'done') continue;
    const { pods, events } = await signsOf(client, workload);
    const judged = rolloutOf(workload, pods, events);
    if (judged.state === 'going') doing.push(judged.doing);
    if (judged.state === 'stuck') throw new Refused(await withLastWords(client, judged));
  }
  return doing[0];
}

async function signsOf(client: Client, { metadata, spec }: LiveObject) {
  const { namespace = '' } = metadata;
  const { selector } = spec as { selector: { matchLabels?: Record<string, string> } };
  const labels = Object.entries(selector.matchLabels ?? {}).map(([name, value]) => `${name}=${value}`);
  const [pods, events] = await Promise.all([
    client.list({ apiVersion: 'v1', kind: 'Pod', namespace }, { labelSelector: labels.join(',') }),
    client.list(
      { apiVersion: 'v1', kind: 'Event', namespace },
      { fieldSelector: `involvedObject.uid=${metadata.uid},reason=FailedCreate` },
    ),
  ]);
  return { pods, events: events.map(({ message }) => String(message)) };
}

async function withLastWords(
  client: Client,
  { why, silent }: Extract<ReturnType<typeof rolloutOf>, { state: 'stuck' }>,
) {
  if (!silent) return why;
  const words = await client.lastWords(silent.pod, silent.container).catch(() => '');
  return words.trim() === '' ? why : `${why}: ${shortened(words)}`;
}
