import { EventEmitter, on } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, LiveObject } from '../applying/client.ts';
import { isAvailable } from './progress.ts';
import { kindOf, LABELS } from './rendering.ts';

const WATCHED = ['Cluster', 'KubeadmControlPlane', 'MachineDeployment'] as const;
/** Before listening again, so that a watch that ends at once costs little. */
const PAUSE_MS = 1_000;

/** Of the objects of a kind, by uid. */
type Known = Map<string, { cluster: string | undefined; state: string }>;

/**
 * Returns a function that yields the ids of clusters that somebody has to look at: each when it is seen for the first
 * time, and then whenever its parts are changed or removed, or become available or unavailable. What was seen is kept
 * from one watch to the next, so that what happens between them is told of as well.
 */
export function createWatch(labelSelector: string) {
  const known = new Map(WATCHED.map((kind) => [kind, new Map() as Known]));

  return async function* watch(client: Client, signal: AbortSignal): AsyncIterable<string> {
    const told = new EventEmitter();
    const clusters = on(told, 'cluster', { signal });
    // The first error ends the listening, and the others fail with it.
    told.on('error', () => {});
    for (const [kind, objects] of known) {
      const listen = async () => {
        while (!signal.aborted) {
          for await (const one of listened(client, kind, objects)) told.emit('cluster', one);
          await sleep(PAUSE_MS, undefined, { signal });
        }
      };
      listen().catch((error: unknown) => told.emit('error', error));
    }
    for await (const [cluster] of clusters) yield cluster as string;
  };

  async function* listened(client: Client, kind: (typeof WATCHED)[number], objects: Known) {
    // A watch begins with all that is there, and says nothing of what has gone before.
    const there = await client.list(kindOf(kind), { labelSelector });
    yield* there.flatMap((object) => changed(objects, object) ?? []);
    const uids = new Set(there.map(({ metadata }) => metadata.uid));
    yield* [...objects.keys()].flatMap((uid) => (uids.has(uid) ? [] : (gone(objects, uid) ?? [])));
    for await (const { type, object } of client.watch(kindOf(kind), { labelSelector })) {
      // Such as that the API server has forgotten what happened since; the next watch tells.
      if (type === 'ERROR') return;
      const isGone = type === 'DELETED';
      const cluster = isGone ? gone(objects, object.metadata.uid) : changed(objects, object);
      if (cluster !== undefined) yield cluster;
    }
  }
}

/** Returns the cluster if the object is not as we knew it. */
function changed(known: Known, object: LiveObject): string | undefined {
  const { uid, generation, deletionTimestamp, labels } = object.metadata;
  const cluster = labels?.[LABELS.cluster];
  const state = JSON.stringify([generation, deletionTimestamp, isAvailable(object)]);
  const former = known.get(uid);
  known.set(uid, { cluster, state });
  return former?.state === state ? undefined : cluster;
}

function gone(known: Known, uid: string): string | undefined {
  const former = known.get(uid);
  known.delete(uid);
  return former?.cluster;
}
