import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Live, Told } from './messages.ts';
import { AGAIN_MS, LONGEST_AGAIN_MS, type SessionKeeper, sleep } from './session.ts';

/** The server sends something at least every 15 seconds. */
const SILENCE_MS = 20_000;
const POLL_MS = 3_000;
/** What held a stream back may be gone, such as a network that the machine has left. */
const STREAM_AGAIN_MS = 5 * 60_000;
const TOO_SHORT_MS = 1_000;
const PATH = '/tradewind/v1/events';
/** A comment with a cursor. */
const HEARTBEAT = /^:[^\n]*\nid: (\S+)\n\n/gm;

interface Listener {
  live(live: Live): void;
  events(events: Told[]): void;
  readAgain(): void;
}

/** Follows the events of the account until it is stopped: one stream for all pages of the browser. */
export function followEvents(keeper: SessionKeeper, listener: Listener): { stop(): void } {
  const stopping = new AbortController();
  let cursor: string | undefined;
  let noStreamsUntil = 0;
  let pause = AGAIN_MS;

  async function stream(): Promise<void> {
    const connection = new AbortController();
    const stop = () => connection.abort();
    stopping.signal.addEventListener('abort', stop);
    const headers = await headersOf('text/event-stream');
    let silence = setTimeout(stop, SILENCE_MS);
    let heard = false;
    try {
      const response = await fetch(PATH, {
        headers,
        signal: connection.signal,
        cache: 'no-store',
      });
      if (response.status === 403) return await lookWithoutEvents();
      if (!response.ok || !response.body) throw new Error(`${response.status}`);
      const parser = createParser({ onEvent: take });
      // Not by a stream of messages: heartbeats are comments.
      const write = (text: string) => {
        clearTimeout(silence);
        silence = setTimeout(stop, SILENCE_MS);
        if (!heard) listener.live('streaming');
        // Told from now on: pages may have read something before.
        if (!heard && cursor === undefined) listener.readAgain();
        heard = true;
        pause = AGAIN_MS;
        parser.feed(text);
        // The parser ignores heartbeats, since they have no data.
        cursor = [...text.matchAll(HEARTBEAT)].at(-1)?.[1] ?? cursor;
      };
      await response.body.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write }));
    } catch (error) {
      // A proxy that holds streams back lets nothing through, and the server answers other requests.
      if (!heard && connection.signal.aborted && !stopping.signal.aborted)
        noStreamsUntil = Date.now() + STREAM_AGAIN_MS;
      if (!connection.signal.aborted) throw error;
    } finally {
      clearTimeout(silence);
      stopping.signal.removeEventListener('abort', stop);
    }
  }

  async function poll(): Promise<void> {
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const response = await fetch(PATH + query, {
      headers: await headersOf('application/json'),
      signal: stopping.signal,
      cache: 'no-store',
    });
    if (!response.ok) throw new Error(`${response.status}`);
    const {
      events,
      reset,
      cursor: next,
    } = (await response.json()) as { events: Told[]; reset: boolean; cursor: string };
    listener.live('polling');
    if (reset || cursor === undefined) listener.readAgain();
    cursor = next;
    if (events.length > 0) listener.events(events);
    await sleep(POLL_MS);
  }

  /** Users with rights in single projects get no events from the API. */
  async function lookWithoutEvents(): Promise<void> {
    listener.live('polling');
    listener.readAgain();
    await sleep(POLL_MS);
  }

  async function headersOf(accept: string): Promise<Record<string, string>> {
    const token = await keeper.access();
    return {
      accept,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(cursor !== undefined && accept === 'text/event-stream' && { 'last-event-id': cursor }),
    };
  }

  function take({ id, event, data }: EventSourceMessage): void {
    cursor = id ?? cursor;
    if (event === 'reset') listener.readAgain();
    else listener.events([JSON.parse(data) as Told]);
  }

  async function run(): Promise<void> {
    listener.live('connecting');
    while (!stopping.signal.aborted) {
      try {
        const begun = Date.now();
        await (begun >= noStreamsUntil ? stream() : poll());
        // Something that ends streams at once is not asked all the time.
        if (Date.now() - begun < TOO_SHORT_MS) await sleep(AGAIN_MS);
      } catch {
        if (stopping.signal.aborted) return;
        listener.live('connecting');
        await sleep(pause);
        pause = Math.min(pause * 2, LONGEST_AGAIN_MS);
        // Whether anybody is signed in any more.
        await keeper.call({ method: 'GET', path: '/iam/clients/me' }).catch(() => undefined);
      }
    }
  }
  void run();
  return { stop: () => stopping.abort() };
}
