const LONGEST_MS = 5_000;
/** Workers let go of what is gone with their next look at it. */
const REMEMBERED = 100_000;

/** Calls of backends that are going on in this process, by what they are about. */
export interface Calls {
  /** Makes the call, unless that thing is gone: then there is no result. */
  during<T>(key: string, call: () => Promise<T>): Promise<T | undefined>;
  /** Lets no more calls about these things begin, and returns when those that have begun are over, or after five seconds. */
  end(keys: readonly string[]): Promise<void>;
  /** Lets calls about these things begin again: they have come back. */
  allow(keys: Iterable<string>): void;
}

export function createCalls(): Calls {
  const going = new Map<string, Set<Promise<unknown>>>();
  const gone = new Set<string>();
  return {
    async during(key, call) {
      if (gone.has(key)) return undefined;
      const made = call();
      const known = going.get(key) ?? new Set();
      going.set(key, known.add(made));
      try {
        return await made;
      } finally {
        known.delete(made);
        if (known.size === 0 && going.get(key) === known) going.delete(key);
      }
    },
    async end(keys) {
      if (gone.size + keys.length > REMEMBERED) gone.clear();
      for (const key of keys) gone.add(key);
      const calls = keys.flatMap((key) => [...(going.get(key) ?? [])]);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, LONGEST_MS);
      });
      await Promise.race([Promise.allSettled(calls), late]);
      clearTimeout(timer);
    },
    allow(keys) {
      for (const key of keys) gone.delete(key);
    },
  };
}
