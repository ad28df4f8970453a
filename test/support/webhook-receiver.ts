import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message that a webhook got. */
export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
  event: {
    id: string;
    type: string;
    subject: string;
    data: { client_id: number; resources: { name: string }[] };
  };
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: string;
  /** Answers only when this resolves. */
  after?: Promise<unknown>;
}

export interface WebhookReceiver {
  /** For the list of allowed hosts. */
  host: string;
  url: string;
  /** In the order in which it came. */
  received: Received[];
  /** Answers 200 unless it is replaced. */
  replyTo: (one: Received) => Reply;
  /** Begins anew. */
  forget(): void;
  stop(): void;
}

/** Starts a server that gets what webhooks send. */
export async function openReceiver(): Promise<WebhookReceiver> {
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString();
      const headers = request.headers as Record<string, string>;
      const one = { path: request.url ?? '', headers, body, event: JSON.parse(body) };
      receiver.received.push(one);
      const { status, headers: own = {}, body: text, after } = receiver.replyTo(one);
      await after;
      response.writeHead(status, own).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const receiver: WebhookReceiver = {
    host,
    url: `http://${host}`,
    received: [],
    replyTo: () => ({ status: 200 }),
    forget() {
      receiver.received = [];
      receiver.replyTo = () => ({ status: 200 });
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
