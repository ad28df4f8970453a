/** When a request was sent and answered, to determine whether one came after another. */
export interface Span {
  sent: number;
  answered: number;
}

interface Life {
  made: number;
  removed: number;
  /** The account that may read it. */
  account: string;
  /** The thing with which it is deleted. */
  parent: string | undefined;
}

/** What the service has acknowledged to anybody, to be compared with what it shows in the end. */
export interface Ledger {
  made(path: string, account: string, parent?: string): void;
  removed(path: string): void;
  /**
   * Records that a field was set. Its final value may be this one, or one that somebody else set at the same
   * time or later.
   */
  wrote(path: string, field: string, value: string, span: Span): void;
  /** Records a change of a thing that counts its changes. */
  changed(path: string): void;
  lives(): { path: string; account: string; alive: boolean }[];
  /** Returns things that were made or removed more often than possible. */
  impossible(): string[];
  writesTo(path: string): ReadonlyMap<string, readonly (Span & { value: string })[]>;
  changesOf(path: string): number;
}

export function createLedger(): Ledger {
  const lives = new Map<string, Life>();
  const writes = new Map<string, Map<string, (Span & { value: string })[]>>();
  const changes = new Map<string, number>();
  const life = (path: string) => {
    const known = lives.get(path) ?? { made: 0, removed: 0, account: '', parent: undefined };
    lives.set(path, known);
    return known;
  };
  const isAlive = (path: string): boolean => {
    const known = lives.get(path);
    if (!known) return true;
    return known.made - known.removed === 1 && (known.parent === undefined || isAlive(known.parent));
  };

  return {
    made(path, account, parent) {
      const known = life(path);
      known.made++;
      known.account = account;
      known.parent = parent;
    },
    removed: (path) => void life(path).removed++,
    wrote(path, field, value, span) {
      const fields = writes.get(path) ?? new Map<string, (Span & { value: string })[]>();
      writes.set(path, fields.set(field, [...(fields.get(field) ?? []), { ...span, value }]));
    },
    changed: (path) => void changes.set(path, (changes.get(path) ?? 0) + 1),
    lives: () => [...lives].map(([path, { account }]) => ({ path, account, alive: isAlive(path) })),
    impossible: () =>
      [...lives]
        .filter(([, { made, removed }]) => made - removed < 0 || made - removed > 1)
        .map(([path, { made, removed }]) => `${path} was made ${made} times and removed ${removed} times`),
    writesTo: (path) => writes.get(path) ?? new Map<string, (Span & { value: string })[]>(),
    changesOf: (path) => changes.get(path) ?? 0,
  };
}

/** Whether `value` may be a field's final value: its write had not ended before another one began. */
export function mayStand(value: unknown, writes: readonly (Span & { value: string })[]): boolean {
  return writes.some((write) => write.value === value && !writes.some((later) => later.sent > write.answered));
}
