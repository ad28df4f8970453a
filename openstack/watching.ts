import { setTimeout as sleep } from 'node:timers/promises';
import { type Backend, type Kind, type Ref, Unavailable } from '../src/backends/contract/backend.ts';

/** The services tell nobody what changes, so everything is listed again and again. */
const WATCH_MS = 20_000;
/** A slow cloud gets this many times what the list took to do other work. */
const BREATH = 4;

type Reported = Pick<Ref, 'id' | 'kind'> & { seen?: string };

/** Returns a watch that lists everything regularly and reports the differences. */
export function watchOf<K extends Kind>(
  kinds: readonly K[],
  list: (kind: K, ...call: Parameters<Backend['list']>) => ReturnType<Backend['list']>,
  seenIn: (handle: Ref['handle']) => string | undefined,
): NonNullable<Backend['watch']> {
  /** As it was when somebody last looked. */
  let before: ReadonlyMap<string, Reported> | undefined;

  async function listed(kind: K, call: Parameters<Backend['list']>[0]): Promise<Reported[]> {
    const found: Reported[] = [];
    for await (const { id, handle } of list(kind, call)) {
      const seen = seenIn(handle);
      found.push({ kind, id, ...(seen !== undefined && { seen }) });
    }
    return found;
  }

  async function look(call: Parameters<Backend['list']>[0]): Promise<Map<string, Reported>> {
    const all: Reported[] = [];
    for (const kind of kinds) {
      const found = await listed(kind, call).catch((error: unknown) => {
        if (!(error instanceof Unavailable)) throw error;
        // While one service is away, what the others have is looked at.
        return [...(before?.values() ?? [])].filter((one) => one.kind === kind);
      });
      all.push(...found);
    }
    return new Map(all.map((one) => [`${one.kind} ${one.id}`, one]));
  }

  return async function* watch(call) {
    while (!call.signal.aborted) {
      const begun = performance.now();
      const now = await look(call);
      const took = performance.now() - begun;
      if (before) yield* changesBetween(before, now);
      before = now;
      await sleep(Math.max(WATCH_MS, took * BREATH), undefined, { signal: call.signal });
    }
  };
}

function* changesBetween(before: ReadonlyMap<string, Reported>, now: ReadonlyMap<string, Reported>) {
  for (const [key, one] of now) if (before.get(key)?.seen !== one.seen) yield one;
  for (const [key, { kind, id }] of before) if (!now.has(key)) yield { kind, id };
}
