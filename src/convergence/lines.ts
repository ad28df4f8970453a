import pLimit, { type LimitFunction } from 'p-limit';
import type { Backend } from '../backends/contract/backend.ts';
import { type BackendFamily, familyOf } from '../backends/contract/needs.ts';
import type { KindInRegion } from './claims.ts';

/** Concurrent calls in one line. */
const MOST_CALLS = 32;
const STUCK_MS = 3_000;
/** Wants that are pursued in one line at once. Most of them wait for their infrastructure. */
const MOST_IN_HAND = 500;

/** Where calls to one family of a backend wait for their turn. */
export interface Line {
  /** @throws DOMException AbortError if the backend got stuck before the call's turn came */
  call<T>(work: () => Promise<T>): Promise<T>;
  /** Counts a want as in hand until the work ends. */
  hold<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Each family of each backend has its own line. A slow or hanging backend doesn't hold up the others, and storage that
 * is away doesn't hold up networks.
 */
export interface Lines {
  of(backend: Backend, of: KindInRegion): Line;
  /** Returns the places whose lines take nothing more: none of their calls ends, or they have enough in hand. */
  closed(): KindInRegion[];
  /** Rejects the calls that wait for their turn in lines in which none ends. */
  rejectStuck(): void;
}

interface Waiting extends Line {
  limit: LimitFunction;
  served: Map<string, KindInRegion>;
  inHand: number;
  endedAt: number;
}

export function createLines(): Lines {
  const lines = new Map<Backend, Map<BackendFamily, Waiting>>();
  const all = () => [...lines.values()].flatMap((families) => [...families.values()]);
  return {
    of(backend, { kind, region_id }) {
      const families = lines.get(backend) ?? new Map<BackendFamily, Waiting>();
      lines.set(backend, families);
      const line = families.get(familyOf(kind)) ?? newLine();
      families.set(familyOf(kind), line);
      line.served.set(`${kind} ${region_id}`, { kind, region_id });
      return line;
    },
    closed: () =>
      all()
        .filter((line) => isStuck(line) || line.inHand >= MOST_IN_HAND)
        .flatMap(({ served }) => [...served.values()]),
    rejectStuck() {
      for (const { limit } of all().filter(isStuck)) limit.clearQueue();
    },
  };
}

const isStuck = ({ limit, endedAt }: Waiting): boolean =>
  limit.activeCount === MOST_CALLS && performance.now() - endedAt > STUCK_MS;

function newLine(): Waiting {
  const limit = pLimit({ concurrency: MOST_CALLS, rejectOnClear: true });
  const line: Waiting = {
    limit,
    served: new Map(),
    inHand: 0,
    endedAt: performance.now(),
    call(work) {
      if (limit.activeCount === 0) line.endedAt = performance.now();
      return limit(() =>
        work().finally(() => {
          line.endedAt = performance.now();
        }),
      );
    },
    hold(work) {
      line.inHand++;
      return work().finally(() => {
        line.inHand--;
      });
    },
  };
  return line;
}
