import pLimit, { type LimitFunction } from 'p-limit';
import type { Backend } from '../backends/contract/backend.ts';
import type { KindInRegion } from './claims.ts';

/** Calls of one backend at a time. */
const MOST_CALLS = 32;
const STUCK_MS = 3_000;

/** Where calls to a backend wait for their turn. */
export interface Line {
  /** @throws DOMException AbortError where the backend got stuck before the turn came */
  call<T>(of: KindInRegion, work: () => Promise<T>): Promise<T>;
}

/** A line for each backend, so that one that hangs holds up nobody who needs another. */
export interface Lines {
  of(backend: Backend): Line;
  /** What backends have of which no call ends. Sends away those who wait for one of them. */
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
