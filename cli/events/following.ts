import { setTimeout as sleep } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Api } from '../api/client.ts';
import type { Values } from '../command.ts';
import { UnavailableError } from '../errors.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

export interface Told {
  /** Where to continue after it. */
  cursor: string;
  /** The type of the event, or `reset` if events are missing before the next one. */
  type: string;
  /** A CloudEvent. */
  event: Record<string, unknown>;
}

/** Follows events from a cursor on. When the connection is lost, it continues after the last one that came. */
export async function* following(
  api: Api,
  { filter, from, lost, stop }: { filter: Values; from: string; lost: (why: string) => void; stop: AbortSignal },
): AsyncGenerator<Told> {
  let cursor = from;
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    try {
      const headers = { accept: 'text/event-stream, application/problem+json', 'last-event-id': cursor };
      for await (const message of messagesOf(await api.stream('listEvents', { parameters: filter, headers }))) {
        cursor = message.id ?? cursor;
        pause = FIRST_PAUSE_MS;
        yield { cursor, type: message.event ?? '', event: JSON.parse(message.data) };
      }
      lost('The server has ended the stream');
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      lost(error.message);
    }
    await sleep(pause, undefined, { signal: stop });
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** Where a follower begins that wants what happens from now on. */
export async function presentCursor(api: Api): Promise<string> {
  return ((await api.call('listEvents')) as { cursor: string }).cursor;
}

async function* messagesOf(texts: AsyncIterable<string>): AsyncGenerator<EventSourceMessage> {
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => ready.push(message) });
  for await (const text of texts) {
    parser.feed(text);
    yield* ready.splice(0);
  }
}
