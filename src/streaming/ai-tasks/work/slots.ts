/** A file that isn't there by then comes slowly: it doesn't keep a slot from others any longer. */
const QUICK_MS = 2_000;
/** Slow files of different accounts in this process. */
const MAX_SLOW = 16;

type Stage = 'quick' | 'slow' | 'ready' | 'analysed';

/** A task in this process. */
export interface Slot {
  /** Call it when the file has arrived. Resolves when it may be analysed. @throws the reason of the signal */
  turn(signal: AbortSignal): Promise<void>;
  /** Call it when the task leaves this process. */
  leave(): void;
}

/**
 * How many tasks this process works on. An analysis has a slot of its own, and so has the fetching of a file in its
 * first moments; a file that comes slowly has none, so that nobody can hold up others by a slow server. When it is
 * there at last its task waits for a slot, and accounts take turns.
 */
export interface Slots {
  /** Whether another task may be claimed. */
  hasRoom(): boolean;
  /** Accounts with slow files: no other task of theirs is to be claimed meanwhile. */
  slowClients(): number[];
  enter(clientId: number): Slot;
}

interface Entry {
  clientId: number;
  stage: Stage;
  begin?: () => void;
}

export function createSlots(
  count: number,
  { quickMs = QUICK_MS, maxSlow = MAX_SLOW }: { quickMs?: number; maxSlow?: number } = {},
): Slots {
  const entries = new Set<Entry>();
  /** Accounts in the order of their last turns; only those with tasks here. */
  const turns = new Set<number>();
  const at = (...stages: Stage[]) => [...entries].filter(({ stage }) => stages.includes(stage));

  /** Gives free slots to tasks whose files are there. */
  function settle(): void {
    while (at('quick', 'analysed').length < count) {
      const next = nextInTurn();
      if (!next) break;
      analyse(next);
      next.begin?.();
    }
  }

  /** Returns the oldest task of the account whose last turn is longest ago. */
  function nextInTurn(): Entry | undefined {
    const last = [...turns];
    const [next] = at('ready').sort((a, b) => last.indexOf(a.clientId) - last.indexOf(b.clientId));
    return next;
  }

  function analyse(entry: Entry): void {
    entry.stage = 'analysed';
    turns.delete(entry.clientId);
    turns.add(entry.clientId);
  }

  return {
    hasRoom: () => at('quick', 'analysed', 'ready').length < count && at('slow').length < maxSlow,
    slowClients: () => at('slow').map(({ clientId }) => clientId),
    enter(clientId) {
      const entry: Entry = { clientId, stage: 'quick' };
      entries.add(entry);
      const patience = setTimeout(() => {
        entry.stage = 'slow';
        settle();
      }, quickMs);
      return {
        async turn(signal) {
          clearTimeout(patience);
          if (entry.stage === 'quick') return analyse(entry);
          entry.stage = 'ready';
          await new Promise<void>((resolve, reject) => {
            entry.begin = resolve;
            signal.addEventListener('abort', () => reject(signal.reason), { once: true });
            settle();
          });
        },
        leave() {
          clearTimeout(patience);
          entries.delete(entry);
          if (![...entries].some((other) => other.clientId === clientId)) turns.delete(clientId);
          settle();
        },
      };
    },
  };
}
