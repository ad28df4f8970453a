import { setTimeout as sleep } from 'node:timers/promises';
import { type Backend, type Kind, type Ref, Refused, Unavailable } from '../src/backends/contract/backend.ts';

/** The services tell nobody what changes, so everything is listed again and again. */
const WATCH_MS = 20_000;
/** A slow cloud gets this many times what the list took to do other work. */
const BREATH = 4;

type Reported = Pick<Ref, 'id' | 'kind'> & { seen?: string };

/** Returns a watch that lists everything every `eachMs`, or less often if the lists take long, and reports the differences. */
export function watchOf<K extends Kind>(
  kinds: readonly K[],
  list: (kind: K, ...call: Parameters<Backend['list']>) => ReturnType<Backend['list']>,
  seenIn: (handle: Ref['handle']) => string | undefined,
  eachMs = WATCH_MS,
): NonNullable<Backend['watch']> {
  /** As it was when somebody last looked. */
  let before: ReadonlyMap<string, Reported> | undefined;
  /** Kinds whose service did not answer. */
  const silent = new Set<K>();

  async function listed(kind: K, call: Parameters<Backend['list']>[0]): Promise<Reported[]> {
    const found: Reported[] = [];
    for await (const { id, handle } of list(kind, call)) {
      const seen = seenIn(handle);
      found.push({ kind, id, ...(seen !== undefined && { seen }) });
    }
    return found;
  }

  /** While one service is away, what the others have is looked at. Returns how long those took. */
  async function look(call: Parameters<Backend['list']>[0]): Promise<{ now: Map<string, Reported>; took: number }> {
    const begun = performance.now();
    const lists = await Promise.all(
      kinds.map(async (kind) => {
        try {
          const found = await listed(kind, call);
          silent.delete(kind);
          return { found, took: performance.now() - begun };
        } catch (error) {
          if (!(error instanceof Refused || error instanceof Unavailable)) throw error;
          if (!silent.has(kind)) call.log.warn({ kind, why: error.message }, 'what the cloud has could not be listed');
          silent.add(kind);
          if (silent.size === kinds.length) throw error;
          return { found: [...(before?.values() ?? [])].filter((one) => one.kind === kind), took: 0 };
        }
      }),
    );
    const now = new Map(lists.flatMap(({ found }) => found).map((one) => [`${one.kind} ${one.id}`, one]));
    return { now, took: Math.max(...lists.map(({ took }) => took)) };
  }

  return async function* watch(call) {
    while (!call.signal.aborted) {
      const { now, took } = await look(call);
      if (before) yield* changesBetween(before, now);
      before = now;
      await sleep(Math.max(eachMs, took * BREATH), undefined, { signal: call.signal });
    }
  };
}

function* changesBetween(before: ReadonlyMap<string, Reported>, now: ReadonlyMap<string, Reported>) {
  for (const [key, one] of now) if (before.get(key)?.seen !== one.seen) yield one;
  for (const [key, { kind, id }] of before) if (!now.has(key)) yield { kind, id };
}
