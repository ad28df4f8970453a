import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { DomainError, InvalidError } from '../lib/errors.ts';
import { loop } from '../lib/loop.ts';

/** A message that a client sends. Keys that are typed need a few bytes. */
const MOST_BYTES = 65_536;
const PING_MS = 30_000;
const IDLE_MS = 30 * 60_000;
const LOOK_MS = 5_000;
/** How long clients may take to say goodbye when the server stops. */
const GOODBYE_MS = 1_000;
/** How long clients may take to read that they are refused. */
const REFUSED_MS = 10_000;
/** Of RFC 6455, 7.4.1. */
const CLOSE = { normal: 1000, goingAway: 1001, refused: 1008, failed: 1011 } as const;

/** What a client of a WebSocket talks to. */
export interface Talk {
  open(): Promise<Duplex>;
  /** Called every few seconds. A domain error ends the talk. */
  stillAllowed(): Promise<void>;
  /** Called once there is room. Returns what is called when the client has left. @throws DomainError */
  enter(): () => void;
  log: Logger;
}

/** Takes the connection of a request and lets its client talk. @throws the error of `enter` */
export type TakeOver = (request: FastifyRequest, reply: FastifyReply, talk: Talk) => void;

/**
 * Lets the route at `path` take over the connections of WebSockets. Their requests meet all that others meet: limits,
 * log and refusals in the usual form.
 */
export function acceptWebSockets(app: FastifyInstance, path: string): TakeOver {
  const server = new WebSocketServer({ noServer: true, maxPayload: MOST_BYTES });
  const waiting = new WeakMap<IncomingMessage, Buffer>();

  app.server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Buffer) => {
    const socket = connection as Socket & { _httpMessage?: unknown };
    // An upgrade before the last answer is complete would break the connection's parser.
    if (socket._httpMessage) return void socket.destroy();
    const [asked] = (request.url ?? '').split('?', 1);
    if (asked !== path || request.headers.upgrade?.toLowerCase() !== 'websocket') {
      answerAsUsual(app.server, request, socket, head);
      return;
    }
    socket.on('error', () => socket.destroy());
    // No timeout of the server counts any more. A WebSocket has its own.
    socket.setTimeout(REFUSED_MS, () => socket.destroy());
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => {
      socket.destroySoon();
      response.emit('close');
    });
    waiting.set(request, head);
    app.routing(request, response);
  });

  app.addHook('preClose', async () => {
    if (server.clients.size === 0) return;
    for (const client of server.clients) client.close(CLOSE.goingAway, 'The server is stopping');
    const gone = [...server.clients].map((client) => new Promise((resolve) => client.once('close', resolve)));
    await Promise.race([Promise.all(gone), sleep(GOODBYE_MS)]);
    for (const client of server.clients) client.terminate();
  });

  return ({ raw: request }, reply, talk) => {
    const head = waiting.get(request);
    if (!head) throw new InvalidError({ upgrade: ['Open this address as a WebSocket.'] });
    waiting.delete(request);
    // It may have gone while it was admitted.
    if (!request.socket.destroyed) request.socket.once('close', talk.enter());
    reply.hijack();
    reply.raw.detachSocket(request.socket);
    // Answers by itself if the handshake is wrong.
    server.handleUpgrade(request, request.socket, head, (socket) => void passOn(socket, talk));
  };
}

/**
 * Passes on what a client and a stream say. Ends when one of them does, when nobody has said anything for long, when the
 * client no longer answers, and when it is no longer allowed.
 */
async function passOn(socket: WebSocket, { open, stillAllowed, log }: Talk): Promise<void> {
  // From now on what the client sends is kept.
  const client = createWebSocketStream(socket);
  client.on('error', () => {});
  const end = (code: number, reason: string) => socket.close(code, reason.replaceAll(/[^ -~]/g, '?').slice(0, 123));
  let lastAt = performance.now();
  let stream: Duplex | undefined;
  let answers = true;
  socket.on('pong', () => {
    answers = true;
  });
  const pings = setInterval(() => {
    if (!answers) return socket.terminate();
    answers = false;
    socket.ping();
  }, PING_MS);
  const checks = loop('Checking whether a console may stay open', LOOK_MS, log, check, LOOK_MS);
  socket.once('close', () => {
    clearInterval(pings);
    void checks.stop();
    stream?.destroy();
  });

  async function check(): Promise<void> {
    if (performance.now() - lastAt > IDLE_MS) end(CLOSE.normal, 'Nothing has happened for half an hour');
    try {
      await stillAllowed();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      end(CLOSE.refused, error.message);
    }
  }

  try {
    stream = await open();
  } catch (error) {
    if (!(error instanceof DomainError)) log.error({ err: error }, 'A console could not be opened');
    end(CLOSE.failed, error instanceof DomainError ? error.message : 'The console could not be opened');
    return;
  }
  stream.on('error', (error) => {
    log.warn({ err: error }, 'A console broke off');
    end(CLOSE.failed, 'The console broke off');
  });
  const finish = () => end(CLOSE.normal, 'The console has ended');
  stream.once('close', finish);
  // After all that it said.
  stream.once('end', () => client.write('', finish));
  if (socket.readyState !== socket.OPEN) {
    stream.destroy();
    return;
  }
  for (const each of [client, stream]) {
    each.on('data', () => {
      lastAt = performance.now();
    });
  }
  stream.pipe(client, { end: false });
  client.pipe(stream);
}

/**
 * Answers a request in HTTP/1.1 though it asks for another protocol, such as h2c, as RFC 9110 (7.8) allows. Node does so
 * only as long as nobody listens for upgrades: the request goes through its parser again, without asking.
 */
function answerAsUsual(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const headers = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 && name.toLowerCase() !== 'upgrade' ? [`${name}: ${rawHeaders[at + 1]}`] : [],
  );
  const lines = [`${method} ${url} HTTP/${httpVersion}`, ...headers, '', ''].join('\r\n');
  socket.unshift(Buffer.concat([Buffer.from(lines, 'latin1'), head]));
  server.emit('connection', socket);
}
