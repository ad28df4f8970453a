import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

export interface MediaServer {
  /** `127.0.0.1:port`; the same port listens on every address of this machine. */
  host: string;
  port: number;
  /** Requested paths. */
  asked: string[];
  at(path: string): string;
  close(): void;
}

/** Serves files and misbehaves, by path. */
export async function startMediaServer(pages: Record<string, string | Handler>): Promise<MediaServer> {
  const asked: string[] = [];
  const server = http.createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    asked.push(path);
    const page = pages[path];
    if (page === undefined) response.writeHead(404).end('SECRET');
    else if (typeof page === 'function') page(request, response);
    else {
      response.setHeader('content-length', fs.statSync(page).size);
      fs.createReadStream(page).pipe(response);
    }
  });
  await once(server.listen(0, '::'), 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  return {
    host,
    port,
    asked,
    at: (path) => `http://${host}${path}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Never ends, and sends as fast as possible. */
export const endless: Handler = (_, response) => {
  const more = () => void (response.destroyed || response.write(Buffer.alloc(65_536), more));
  more();
};

/** Sends a byte from time to time. */
export const dripping: Handler = (_, response) => {
  const timer = setInterval(() => response.write('a'), 100);
  response.once('close', () => clearInterval(timer));
};

/** Sends a little of a file from time to time, and finally the rest. */
export function crawling(file: string, opened: Promise<void>): Handler {
  const bytes = fs.readFileSync(file);
  return async (_, response) => {
    let sent = 0;
    const more = () => {
      response.write(bytes.subarray(sent, sent + 10));
      sent += 10;
    };
    const timer = setInterval(more, 100);
    await opened;
    clearInterval(timer);
    response.end(bytes.subarray(sent));
  };
}

export function redirectTo(location: string): Handler {
  return (_, response) => void response.writeHead(302, { location }).end();
}
