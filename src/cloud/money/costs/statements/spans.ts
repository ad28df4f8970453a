import type { Span } from './store.ts';

const DAY_MS = 86_400_000;

/** Cuts a time where prices change, and at the beginning of each day in UTC if days have lines of their own. */
export function spansOf(
  clientId: number,
  { from, to, byDay }: { from: Date; to: Date; byDay: boolean },
  changes: readonly { from: Date }[],
): Span[] {
  const starts = new Set([from.getTime(), ...changes.map((change) => Math.max(+change.from, +from))]);
  if (byDay) for (let day = startOfDay(from) + DAY_MS; day < to.getTime(); day += DAY_MS) starts.add(day);
  const sorted = [...starts].filter((start) => start < to.getTime()).sort((a, b) => a - b);
  return sorted.map((start, index) => ({
    clientId,
    from: new Date(start),
    to: new Date(sorted[index + 1] ?? to),
    book: Math.max(
      0,
      changes.findLastIndex((change) => change.from.getTime() <= start),
    ),
    day: byDay ? new Date(start).toISOString().slice(0, 10) : '',
  }));
}

const startOfDay = (time: Date): number => Math.floor(time.getTime() / DAY_MS) * DAY_MS;
