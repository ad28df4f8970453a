import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One request to a cloud and its answer. Addresses of services begin with `{origin}`, and the port of the service follows. */
export interface Exchange {
  method: string;
  path: string;
  body?: unknown;
  status: number;
  token?: string;
  answer?: unknown;
}

/** What a fast test reads of a cloud. */
export interface Recording {
  /** The release of its services. */
  release: string;
  externalNetworkId: string;
  exchanges: Exchange[];
}

/** A server that stands before a cloud, or for one. */
export interface Stand {
  origin: string;
  exchanges: Exchange[];
  close(): Promise<void>;
}

/** Returns a clouds.yaml of services on this machine that leads to a stand before them. */
export const throughStand = (clouds: string, { origin }: Pick<Stand, 'origin'>): string =>
  clouds.replace('http://127.0.0.1:', `${origin}/`);

const SERVICE = /^\/(\d+)(\/.*|$)/;
const TOKEN = 'x-subject-token';

export function readRecording(file: string): Recording {
  const [about = '', ...exchanges] = fs.readFileSync(file, 'utf8').trim().split('\n');
  return { ...(JSON.parse(about) as Recording), exchanges: exchanges.map((line) => JSON.parse(line) as Exchange) };
}

/** Writes a line for each exchange. */
export function writeRecording(file: string, { exchanges, ...about }: Recording): void {
  const lines = [about, ...exchanges].map((one) => JSON.stringify(one));
  fs.writeFileSync(file, `${lines.join('\n')}\n`);
}

/** Passes requests on to the services on this machine after a pause, and keeps what both sides say. */
export async function startRecorder(pause = async () => {}): Promise<Stand> {
  const exchanges: Exchange[] = [];
  const stand = await serve(async (request, origin) => {
    await pause();
    const [, port, path] = SERVICE.exec(request.path) ?? [];
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: request.method,
      headers: request.headers,
      ...(request.body !== '' && { body: request.body }),
    });
    const answer = (await response.text()).replaceAll(/http:\/\/(?:127\.0\.0\.1|localhost):/g, '{origin}/');
    const exchange: Exchange = {
      method: request.method,
      path: request.path,
      ...(request.body !== '' && !isLogin(request.path) && { body: JSON.parse(request.body) }),
      status: response.status,
      ...(response.headers.get(TOKEN) && { token: 'a token' }),
      ...(answer !== '' && { answer: JSON.parse(answer) }),
    };
    exchanges.push(exchange);
    const token = response.headers.get(TOKEN);
    return { status: response.status, text: answer.replaceAll('{origin}', origin), token };
  });
  return { ...stand, exchanges };
}

/**
 * Answers as the cloud did. The same request gets its answers in their order, and the last one from then on, so that it doesn't matter how often
 * somebody looks. `exchanges` are those that nobody asked for yet.
 */
export async function startDouble(recorded: readonly Exchange[]): Promise<Stand> {
  const exchanges = [...recorded];
  const last = new Map<string, Exchange>();
  const stand = await serve(async (request, origin) => {
    const key = keyOf(request.method, request.path, request.body === '' ? undefined : JSON.parse(request.body));
    const at = exchanges.findIndex(({ method, path, body }) => keyOf(method, path, body) === key);
    const exchange = at === -1 ? last.get(key) : exchanges.splice(at, 1)[0];
    if (!exchange) return { status: 400, text: JSON.stringify({ message: `Nobody has recorded ${key}` }), token: null };
    last.set(key, exchange);
    const answer = exchange.answer === undefined ? '' : JSON.stringify(exchange.answer);
    return { status: exchange.status, text: answer.replaceAll('{origin}', origin), token: exchange.token ?? null };
  });
  return { ...stand, exchanges };
}

/** Who logs in is kept by nobody. */
const isLogin = (path: string): boolean => path.endsWith('/auth/tokens');
const keyOf = (method: string, path: string, body: unknown): string =>
  `${method} ${path} ${isLogin(path) ? '' : (JSON.stringify(body) ?? '')}`;

interface Request {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}
type Answer = { status: number; text: string; token: string | null };

async function serve(answer: (request: Request, origin: string) => Promise<Answer>) {
  const server = http.createServer(async (incoming, outgoing) => {
    const kept = ['accept', 'content-type', 'openstack-api-version', 'x-auth-token'];
    const headers = Object.fromEntries(
      kept.flatMap((name) => (typeof incoming.headers[name] === 'string' ? [[name, incoming.headers[name]]] : [])),
    );
    const request = { method: incoming.method ?? '', path: incoming.url ?? '', headers, body: await text(incoming) };
    const {
      status,
      text: body,
      token,
    } = await answer(request, origin).catch((error: Error) => ({
      status: 500,
      text: JSON.stringify({ message: error.message }),
      token: null,
    }));
    outgoing.writeHead(status, { 'content-type': 'application/json', ...(token !== null && { [TOKEN]: token }) });
    outgoing.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
