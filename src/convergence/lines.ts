import pLimit, { type LimitFunction } from 'p-limit';
import type { Backend } from '../backends/contract/backend.ts';
import type { KindInRegion } from './claims.ts';

/** Concurrent calls to one backend. */
const MOST_CALLS = 32;
const STUCK_MS = 3_000;

/** Where calls to one backend wait for their turn. */
export interface Line {
  /** @throws DOMException AbortError if the backend got stuck before the call's turn came */
  call<T>(of: KindInRegion, work: () => Promise<T>): Promise<T>;
}

/** One line per backend, so that a backend that hangs holds up nobody who needs another. */
export interface Lines {
  of(backend: Backend): Line;
  /**
   * Returns the places of backends whose calls don't end, and rejects the calls that wait for one of these backends.
   */
  clearStuck(): KindInRegion[];
}

interface Waiting extends Line {
  limit: LimitFunction;
  served: Map<string, KindInRegion>;
  endedAt: number;
}

export function createLines(): Lines {
  const lines = new Map<Backend, Waiting>();
  return {
    of(backend) {
      const line = lines.get(backend) ?? newLine();
      lines.set(backend, line);
      return line;
    },
    clearStuck() {
      const stuck = [...lines.values()].filter(
        ({ limit, endedAt }) => limit.activeCount === MOST_CALLS && performance.now() - endedAt > STUCK_MS,
      );
      for (const { limit } of stuck) limit.clearQueue();
      return stuck.flatMap(({ served }) => [...served.values()]);
    },
  };
}

function newLine(): Waiting {
  const limit = pLimit({ concurrency: MOST_CALLS, rejectOnClear: true });
  const line: Waiting = {
    limit,
    served: new Map(),
    endedAt: performance.now(),
    call(of, work) {
      line.served.set(`${of.kind} ${of.region_id}`, of);
      if (limit.activeCount === 0) line.endedAt = performance.now();
      return limit(() =>
        work().finally(() => {
          line.endedAt = performance.now();
        }),
      );
    },
  };
  return line;
}
