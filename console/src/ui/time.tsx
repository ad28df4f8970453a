import { useSyncExternalStore } from 'react';
import { clockAhead, serverNow } from '../lib/hub.ts';

/** Once in so many seconds, what is shown as "so long ago" is counted again. */
const TICK_MS = 10_000;
const SECOND_MS = 1_000;
let now = serverNow();
const listeners = new Set<() => void>();
function tick(): void {
  now = serverNow();
  for (const listener of listeners) listener();
}
setInterval(tick, TICK_MS);
clockAhead.subscribe(tick);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // What is shown from now on may be newer than the last tick.
  if (serverNow() - now >= SECOND_MS) now = serverNow();
  return () => listeners.delete(listener);
}

/** The time of the server, as of the last few seconds. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const SINCE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** The API writes some times in UTC without saying so. */
export const timeOf = (text: string): Date => new Date(/(Z|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`);

export const exactly = (text: string): string => FULL.format(timeOf(text));

/** When something was, and exactly when if one points at it. */
export function Time({ at }: { at: string | null | undefined }) {
  const now = useNow();
  if (!at) return <span className="muted">–</span>;
  const date = timeOf(at);
  const ahead = (date.getTime() - now) / 1_000;
  // The server’s clock is known to the second.
  const seconds = ahead > 0 && ahead < 3 ? 0 : ahead;
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return (
    <time dateTime={date.toISOString()} title={`${FULL.format(date)} (${date.toISOString()})`}>
      {SINCE.format(Math.round(seconds / size), unit)}
    </time>
  );
}
