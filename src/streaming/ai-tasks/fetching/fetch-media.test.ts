import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { parseAllowedHosts } from '../../../lib/outside-request.ts';
import { fetchMedia, openMedia } from './fetch-media.ts';

const limits = { maxBytes: 100_000, idleMs: 20_000, totalMs: 20_000, bytesPerSecond: 1 };
/** Limits for servers that are too slow. */
const impatient = { ...limits, idleMs: 300, totalMs: 2_000 };
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-fetch-'));
const file = path.join(folder, 'media');
const HEAD_OF_90_000 = 'HTTP/1.1 200 OK\r\nContent-Length: 90000\r\nConnection: close\r\n\r\n';
const requests: http.IncomingMessage[] = [];

const answers: Record<string, (request: http.IncomingMessage, response: http.ServerResponse) => void> = {
  '/file': (_, response) => response.setHeader('content-length', 1000).end(Buffer.alloc(1000, 'a')),
  '/unsized': (_, response) => response.end(Buffer.alloc(1000, 'a')),
  '/empty': (_, response) => response.end(),
  '/missing': (_, response) => response.writeHead(404).end('SECRET'),
  '/missing-slowly': (_, response) => void response.writeHead(404).write('SECRET'),
  '/part': (_, response) => response.writeHead(206).end('SECRET'),
  '/packed': (_, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('a')),
  '/announced': (_, response) => response.writeHead(200, { 'content-length': '100001' }).flushHeaders(),
  '/silent': () => {},
  '/stuck': (_, response) => response.write('a'),
  '/cut': (_, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('a', () => response.destroy());
  },
  '/rude': (_, response) => {
    // Sends more than is read at once, and then disconnects.
    const body = Buffer.alloc(90_000, 'a');
    response.socket?.end(Buffer.concat([Buffer.from(HEAD_OF_90_000), body]));
  },
  '/reset': (_, response) => {
    response.writeHead(200, { 'content-length': '90000' }).write(Buffer.alloc(50_000), () => {
      response.socket?.resetAndDestroy();
    });
  },
  '/upgrade': (_, response) =>
    response.socket?.end('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  '/headers': (_, response) => response.socket?.end(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`),
  '/nonsense': (_, response) => response.socket?.end('SSH-2.0-SECRET\r\n\r\n'),
  '/endless': (_, response) => {
    const more = () => void (response.destroyed || response.write(Buffer.alloc(10_000), more));
    more();
  },
  '/drip': (_, response) => {
    const timer = setInterval(() => response.write('a'), 50);
    response.once('close', () => clearInterval(timer));
  },
  '/head': (_, { socket }) => {
    socket?.write('HTTP/1.1 200 OK\r\nx: ');
    const timer = setInterval(() => socket?.write('a'), 50);
    socket?.once('close', () => clearInterval(timer));
  },
  '/loop': (_, response) => response.writeHead(302, { location: '/loop' }).end(),
  '/nowhere': (_, response) => response.writeHead(302).end(),
  '/to-file-scheme': (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/relative': (_, response) => response.writeHead(307, { location: 'file' }).end('ignored'),
  '/absolute': (_, response) => response.writeHead(302, { location: `http://127.0.0.1:${port}/file` }).end(),
  '/to-private': (_, response) => response.writeHead(302, { location: `http://[::1]:${port}/file` }).end(),
  '/to-private-name': (_, response) => response.writeHead(302, { location: `http://localhost:${port}/file` }).end(),
};
for (let hops = 1; hops <= 6; hops++) {
  const location = hops === 1 ? '/file' : `/hops-${hops - 1}`;
  answers[`/hops-${hops}`] = (_, response) => response.writeHead(301, { location }).end();
}
const server = http.createServer((request, response) => {
  requests.push(request);
  answers[request.url ?? '']?.(request, response);
});
let port = 0;

beforeAll(async () => {
  await once(server.listen(0, '::'), 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  fs.rmSync(folder, { recursive: true });
});
afterEach(() => {
  requests.length = 0;
  vi.unstubAllEnvs();
});

function fetched(
  where: string,
  more: { signal?: AbortSignal; onShare?: (share: number) => void; limits?: typeof limits } = {},
) {
  const allowedHosts = parseAllowedHosts(`127.0.0.1:${port}`) ?? { allows: () => false };
  const signal = more.signal ?? new AbortController().signal;
  const address = where.startsWith('/') ? `http://127.0.0.1:${port}${where}` : where;
  return fetchMedia(address, file, { limits, allowedHosts, ...more, signal });
}

test.each(['/file', '/unsized', '/relative', '/hops-5'])('gets %s', async (where) => {
  expect(await fetched(where)).toBe(1000);
  expect(fs.readFileSync(file, 'utf8')).toBe('a'.repeat(1000));
});

test('a server that hangs up at once is no reason to lose what it sent', async () => {
  expect(await fetched('/rude')).toBe(90_000);
});

test('tells how much is there, and asks for the file as it is', async () => {
  const shares: number[] = [];
  await fetched('/file', { onShare: (share) => shares.push(share) });
  expect(shares.at(-1)).toBe(1);
  expect(requests[0]?.headers['accept-encoding']).toBe('identity');
});

test('credentials of the address are not sent to where an answer points', async () => {
  await fetched(`http://me:p%40ss@127.0.0.1:${port}/absolute`);
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([
    `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
    undefined,
  ]);
});

test.each([
  ['/missing', 'http_status', /answered HTTP 404/],
  ['/missing-slowly', 'http_status', /answered HTTP 404/],
  ['/part', 'http_status', /answered HTTP 206/],
  ['/empty', 'empty', /0 bytes/],
  ['/packed', 'encoding', /compressed/],
  ['/announced', 'too_large', /larger than/],
  ['/endless', 'too_large', /larger than/],
  ['/silent', 'too_slow', /sent nothing, for 0.3 seconds/],
  ['/stuck', 'too_slow', /sent nothing, for 0.3 seconds/],
  ['/head', 'too_slow', /did not answer/],
  ['/drip', 'too_slow', /within 2 seconds/],
  ['/cut', 'unreachable', /connection was lost/],
  ['/reset', 'unreachable', /connection was lost/],
  ['/upgrade', 'unreachable', /connection was lost/],
  ['/headers', 'unreachable', /does not speak HTTP/],
  ['/nonsense', 'unreachable', /does not speak HTTP/],
  ['/loop', 'redirects', /more than 5 times/],
  ['/hops-6', 'redirects', /more than 5 times/],
  ['/nowhere', 'redirects', /to nowhere/],
  ['/to-file-scheme', 'redirects', /other than HTTP/],
  ['http://nothing.invalid/', 'unreachable', /host name/],
])('%s ends in %s', async (where, code, message) => {
  const patience = code === 'too_slow' ? { limits: impatient } : {};
  const fault: unknown = await fetched(where, patience).catch((error: unknown) => error);
  expect(fault).toMatchObject({ name: 'MediaError', code, message: expect.stringMatching(message) });
  expect(String(fault)).not.toContain('SECRET');
});

test('a file that comes slower than it must is given up long before its time is over', async () => {
  const patient = { ...limits, totalMs: 3_600_000, bytesPerSecond: 1_000 };
  await expect(fetched('/drip', { limits: { ...patient, idleMs: 300 } })).rejects.toMatchObject({
    code: 'too_slow',
    message: expect.stringContaining('less than 1 kB a second for 0.3 seconds'),
  });
  expect(await fetched('/file', { limits: patient })).toBe(1000);
});

test('a reader that is slow makes no server slow', async () => {
  const { signal } = new AbortController();
  const { bytes } = await openMedia(`http://127.0.0.1:${port}/endless`, {
    limits: { maxBytes: 1_000_000_000, idleMs: 200, totalMs: 1_000, bytesPerSecond: 1_000_000 },
    allowedHosts: { allows: () => true },
    signal,
  });
  const reader = bytes[Symbol.asyncIterator]();
  await reader.next();
  await sleep(1_500);
  for (let chunks = 0; chunks < 100; chunks++) expect((await reader.next()).done).toBe(false);
  await reader.return?.();
});

test.each([
  ['/to-private', 1],
  ['/to-private-name', 1],
  ['http://localhost:PORT/file', 0],
  ['http://[::1]:PORT/file', 0],
  ['http://[::ffff:127.0.0.1]:PORT/file', 0],
  ['http://0.0.0.0:PORT/file', 0],
  ['http://127.1.2.3:PORT/file', 0],
  ['http://127.0.0.1:1/', 0],
  ['https://localhost:PORT/file', 0],
])('%s is refused before anything is sent', async (where, asked) => {
  const address = where.replace('PORT', String(port));
  await expect(fetched(address)).rejects.toMatchObject({ code: 'private_address' });
  expect(requests).toHaveLength(asked);
});

test('no proxy is taken from the environment', async () => {
  for (const name of ['http_proxy', 'HTTP_PROXY', 'all_proxy']) vi.stubEnv(name, 'http://127.0.0.1:1');
  expect(await fetched('/file')).toBe(1000);
});

test('ends at once when it is told to, with the reason given', async () => {
  const asked = once(server, 'request');
  const stop = new AbortController();
  const ending = fetched('/drip', { signal: stop.signal });
  await asked;
  stop.abort(new Error('cancelled'));
  await expect(ending).rejects.toThrow('cancelled');
});

test('a folder that is gone is a fault of this machine', async () => {
  const { signal } = new AbortController();
  const allowedHosts = { allows: () => true };
  await expect(
    fetchMedia(`http://127.0.0.1:${port}/file`, path.join(folder, 'no', 'media'), {
      limits,
      allowedHosts,
      signal,
    }),
  ).rejects.toMatchObject({ code: 'ENOENT' });
});
