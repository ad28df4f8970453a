import type { Event } from './schema.ts';
import type { EventRow } from './store.ts';

/** What a listener is told at once. Without events it only learns how far it is. */
export interface Told {
  events: EventRow[];
  /** Whether events are missing before these. */
  reset: boolean;
  cursor: string;
}

/** Returns an event as CloudEvents 1.0 has it. */
export function presentedEvent({
  id,
  type,
  subject,
  time,
  data,
}: Pick<EventRow, 'id' | 'type' | 'subject' | 'time' | 'data'>): Event {
  return {
    specversion: '1.0',
    id,
    source: '/tradewind/v1',
    type,
    subject,
    time: time.toISOString(),
    datacontenttype: 'application/json',
    data: data as Event['data'],
  };
}

// Many listeners are told of the same event.
const texts = new WeakMap<EventRow, string>();

function textOf(row: EventRow): string {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const made = JSON.stringify(presentedEvent(row));
  texts.set(row, made);
  return made;
}

const MISSED =
  'Some events are no longer kept. Read anew what you need to know; the stream goes on from here.';

/** Returns what a listener is told in the form of server-sent events. */
export function asServerSent({ events, reset, cursor }: Told): string {
  const frames = events.map((row) => `id: ${row.position}\nevent: ${row.type}\ndata: ${textOf(row)}\n\n`);
  if (reset) frames.unshift(`id: ${cursor}\nevent: reset\ndata: ${JSON.stringify({ detail: MISSED })}\n\n`);
  // A client keeps the id of a comment as well.
  return frames.length > 0 ? frames.join('') : `: heartbeat\nid: ${cursor}\n\n`;
}

/** Returns the same as lines of JSON. */
export function asLines({ events, reset, cursor }: Told): string {
  const lines = events.map((row) => `${textOf(row).slice(0, -1)},"cursor":"${row.position}"}\n`);
  if (reset) lines.unshift(`${JSON.stringify({ type: 'reset', cursor, detail: MISSED })}\n`);
  return lines.length > 0 ? lines.join('') : `${JSON.stringify({ type: 'heartbeat', cursor })}\n`;
}
