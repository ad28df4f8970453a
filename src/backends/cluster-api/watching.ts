import { EventEmitter, on } from 'node:events';
import type { Change, Client } from '../kubernetes/applying/client.ts';
import { isAvailable } from './progress.ts';
import { kindOf, LABELS } from './rendering.ts';

const WATCHED = ['Cluster', 'KubeadmControlPlane', 'MachineDeployment'] as const;

/**
 * Yields the ids of clusters to which something happened that isn't progress: an edit, a removal, or that they aren't
 * available any more.
 */
export async function* watchClusters(
  client: Client,
  labelSelector: string,
  signal: AbortSignal,
): AsyncIterable<string> {
  const told = new EventEmitter();
  const changes = on(told, 'change', { signal });
  // The first error ends the listening, and the others fail with it.
  told.on('error', () => {});
  for (const kind of WATCHED) void listen(kind).catch((error: unknown) => told.emit('error', error));
  for await (const [id] of changes) yield id as string;

  async function listen(kind: (typeof WATCHED)[number]): Promise<void> {
    const known = new Map<string, string>();
    while (!signal.aborted) {
      for await (const change of client.watch(kindOf(kind), { labelSelector })) {
        const id = changed(known, change);
        if (id !== undefined) told.emit('change', id);
      }
    }
  }
}

/** Returns the cluster if what we knew of the object has changed. */
function changed(known: Map<string, string>, { type, object }: Change): string | undefined {
  if (type === 'ERROR') return undefined;
  const { uid, generation, deletionTimestamp, labels } = object.metadata;
  const former = known.get(uid);
  const state = JSON.stringify([generation, deletionTimestamp, isAvailable(object)]);
  if (type === 'DELETED') known.delete(uid);
  else known.set(uid, state);
  return former !== undefined && (type === 'DELETED' || former !== state)
    ? labels?.[LABELS.cluster]
    : undefined;
}
