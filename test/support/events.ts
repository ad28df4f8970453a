import type { HttpClient } from './http-client.ts';

/** An event of a stream: its cursor, its type and the CloudEvent. */
export interface Received {
  id: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service sent, and asserts on it.
  data: any;
}

export interface Stream {
  contentType: string | null;
  /** All events so far, without heartbeats. */
  received: Received[];
  /** The cursor of the last event or heartbeat. */
  cursor(): string;
  /** Resolves once the condition holds. Fails if the stream ends before or that takes too long. */
  until(condition: (received: Received[]) => boolean, withinMs?: number): Promise<void>;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

/** Opens a stream of events, which the caller must stop. */
export async function follow(
  { base, token }: Pick<HttpClient, 'base' | 'token'>,
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> },
): Promise<Stream> {
  const ending = new AbortController();
  const response = await fetch(`${base}/tradewind/v1/events?${query}`, {
    headers: { accept: 'text/event-stream', authorization: `apikey ${token}`, ...headers },
    signal: ending.signal,
  });
  if (response.status !== 200 || !response.body) throw new Error(await response.text());
  const contentType = response.headers.get('content-type');
  const parse = contentType?.startsWith('text/event-stream') ? parsedFrame : parsedLine;
  const separator = parse === parsedFrame ? '\n\n' : '\n';
  const received: Received[] = [];
  let cursor = '';
  let changed = () => {};
  let hasEnded = false;

  async function read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      const parts = text.split(separator);
      text = parts.pop() ?? '';
      for (const part of parts) {
        const found = parse(part);
        cursor = found.id;
        if (found.event !== 'heartbeat') received.push(found);
      }
      changed();
    }
  }
  const ended = read(response.body)
    .catch(() => {})
    .finally(() => {
      hasEnded = true;
      changed();
    });
  return {
    contentType,
    received,
    cursor: () => cursor,
    async until(condition, withinMs = 20_000) {
      const deadline = setTimeout(() => ending.abort(), withinMs);
      while (!condition(received)) {
        if (hasEnded) throw new Error(`The stream ended after ${received.length} events`);
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      }
      clearTimeout(deadline);
    },
    ended,
    async stop() {
      ending.abort();
      await ended;
    },
  };
}

function parsedFrame(frame: string): Received {
  const fields = new Map(
    frame.split('\n').map((line) => {
      const at = line.indexOf(': ');
      return [line.slice(0, at), line.slice(at + 2)] as const;
    }),
  );
  const data = fields.get('data');
  return {
    id: fields.get('id') ?? '',
    event: fields.get('event') ?? 'heartbeat',
    data: data === undefined ? undefined : JSON.parse(data),
  };
}

function parsedLine(line: string): Received {
  const { cursor, ...data } = JSON.parse(line);
  return { id: cursor, event: data.type, data };
}
