import { once } from 'node:events';
import fs from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAiTask } from '../../../../test/support/ai-tasks.ts';
import { endless, type MediaServer, redirectTo, startMediaServer } from '../../../../test/support/media-server.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const FILM = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
const KINDS = '/tradewind/v1/ai-tasks/kinds';

let media: MediaServer;
let service: TestService;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-media-'));
const asked: IncomingMessage[] = [];
let open = 0;

/** Sends single parts, as servers of files do. */
function film(request: IncomingMessage, response: ServerResponse): void {
  asked.push(request);
  response.setHeader('content-type', 'video/mp4').setHeader('accept-ranges', 'bytes');
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  if (from === undefined) return void response.setHeader('content-length', FILM.length).end(FILM);
  if (Number(from) >= FILM.length) {
    return void response.writeHead(416, { 'content-range': `bytes */${FILM.length}` }).end('SECRET');
  }
  const part = FILM.subarray(Number(from), to === '' ? undefined : Number(to) + 1);
  response.writeHead(206, {
    'content-range': `bytes ${from}-${Number(from) + part.length - 1}/${FILM.length}`,
    'content-length': part.length,
  });
  response.end(part);
}

function counted(handler: (request: IncomingMessage, response: ServerResponse) => void): typeof handler {
  return (request, response) => {
    open++;
    response.once('close', () => open--);
    handler(request, response);
  };
}

const page = (_: IncomingMessage, response: ServerResponse) =>
  void response.setHeader('content-type', 'text/html').end('<script>alert(1)</script>');

beforeAll(async () => {
  fs.writeFileSync(path.join(folder, 'film'), FILM);
  media = await startMediaServer({
    '/film': film,
    '/plain': path.join(folder, 'film'),
    '/moved': redirectTo('/film'),
    '/page': page,
    '/gone': (_, response) => void response.writeHead(410).end('SECRET'),
    '/cut': (_, response) => {
      response.writeHead(200, { 'content-length': '90000' }).write(FILM.subarray(0, 50_000), () => response.destroy());
    },
    '/large': (_, response) => response.writeHead(200, { 'content-length': '1000001' }).flushHeaders(),
    '/part-of-large': (_, response) =>
      void response.writeHead(206, { 'content-range': 'bytes 0-0/1000001', 'content-length': '1' }).end('a'),
    '/endless': counted(endless),
    '/silent': counted((_, response) => response.flushHeaders()),
  });
  service = await startService({ TRADEWIND_MEDIA_ALLOW_HOSTS: media.host, TRADEWIND_MEDIA_MAX_MB: '1' });
});
afterAll(async () => {
  await service?.stop();
  media?.close();
  fs.rmSync(folder, { recursive: true });
});

async function pathOf(url: string): Promise<string> {
  const id = await createAiTask(service.http, { task_name: 'transcription', url });
  return `/tradewind/v1/ai-tasks/${id}/media`;
}

/** Asks for the file of a new task. */
async function get(where: string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await fetch(service.url + (await pathOf(where.startsWith('/') ? media.at(where) : where)), {
    method,
    headers: { authorization: `apikey ${service.http.token}`, ...headers },
  });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

async function request(where: string): Promise<http.ClientRequest> {
  const headers = { authorization: `apikey ${service.http.token}` };
  return http.get(service.url + (await pathOf(media.at(where))), { headers }).on('error', () => {});
}

describe('the media of a task', () => {
  it.each(['/film', '/moved', '/plain'])('comes whole from %s', async (where) => {
    const { status, headers, bytes } = await get(where);
    expect(status).toBe(200);
    expect(bytes.equals(FILM)).toBe(true);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': where === '/plain' ? 'application/octet-stream' : 'video/mp4',
      'content-length': '100000',
      'accept-ranges': where === '/plain' ? 'none' : 'bytes',
      'content-disposition': 'inline',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    });
  });

  it('comes in the part that was asked for', async () => {
    const { status, headers, bytes } = await get('/moved', { range: 'bytes=1000-1999' });
    expect([status, headers.get('content-range')]).toEqual([206, 'bytes 1000-1999/100000']);
    expect(headers.get('content-length')).toBe('1000');
    expect(bytes.equals(FILM.subarray(1000, 2000))).toBe(true);
  });

  it('has no part behind its end', async () => {
    const { status, headers, bytes } = await get('/film', { range: 'bytes=100000-' });
    expect([status, headers.get('content-range')]).toEqual([416, 'bytes */100000']);
    expect(JSON.parse(bytes.toString())).toMatchObject({ status: 416, detail: 'The file has no such part' });
  });

  it.each(['bytes=0-1,5-6', 'lines=1-2', 'bytes=-'])(
    'comes whole for the range %s, which is not passed on',
    async (range) => {
      const { status, bytes } = await get('/film', { range });
      expect([status, bytes.length]).toEqual([200, FILM.length]);
      expect(asked.at(-1)?.headers.range).toBeUndefined();
    },
  );

  it('has a head, for which no byte is sent', async () => {
    const { status, headers, bytes } = await get('/film', {}, 'HEAD');
    expect([status, headers.get('content-length'), bytes.length]).toEqual([200, '100000', 0]);
  });

  it('is never a page', async () => {
    expect((await get('/page')).headers.get('content-type')).toBe('application/octet-stream');
  });

  it.each([
    ['/missing', /HTTP 404 instead of the file/],
    ['/gone', /HTTP 410 instead of the file/],
    ['/large', /larger than the 1 MB/],
    ['http://127.0.0.1:1/film', /public internet/],
    ['http://localhost/film', /public internet/],
  ])('is refused for %s, with the reason', async (where, reason) => {
    const { status, bytes } = await get(where);
    expect([status, bytes.toString()]).toEqual([422, expect.stringMatching(reason)]);
    expect(bytes.toString()).not.toContain('SECRET');
  });

  it('is refused if only a part of it would be small enough', async () => {
    const { status, bytes } = await get('/part-of-large', { range: 'bytes=0-0' });
    expect([status, bytes.toString()]).toEqual([422, expect.stringContaining('larger than the 1 MB')]);
  });

  it.each(['/cut', '/endless'])('breaks off, and looks so, where that of %s does', async (where) => {
    const [response] = (await once(await request(where), 'response')) as [IncomingMessage];
    // `fetch` of Node takes an end in the middle of chunks for the end.
    await expect(response.toArray()).rejects.toThrow('aborted');
    await expect.poll(() => open).toBe(0);
  });

  it('is to another account as if nothing were there', async () => {
    const other = await service.otherTenant();
    const before = media.asked.length;
    expect((await other.http.get(await pathOf(media.at('/film')))).status).toBe(404);
    expect((await service.anonymous.get(await pathOf(media.at('/film')))).status).toBe(401);
    expect(media.asked).toHaveLength(before);
  });

  it('is let go when its reader goes, before and after it has come', async () => {
    for (const where of ['/silent', '/endless']) {
      const reader = await request(where);
      // Nobody reads it: it waits.
      if (where === '/endless') await once(reader, 'response');
      await expect.poll(() => open).toBe(1);
      reader.destroy();
      await expect.poll(() => open).toBe(0);
    }
  });

  it('is read a few times at once, and not more', async () => {
    const at = await pathOf(media.at('/silent'));
    const gone = new AbortController();
    const headers = { authorization: `apikey ${service.http.token}` };
    const reading = Array.from({ length: 4 }, () =>
      fetch(service.url + at, { headers, signal: gone.signal }).catch(() => undefined),
    );
    await expect.poll(() => open).toBe(4);
    const refused = await service.http.get(at);
    expect([refused.status, refused.headers.get('retry-after'), refused.body.code]).toEqual([
      429,
      '10',
      'too-many-requests',
    ]);
    const other = await service.otherTenant();
    expect((await other.http.get(at)).status).toBe(404);
    gone.abort();
    await Promise.all(reading);
    await expect.poll(async () => (await get('/film')).status).toBe(200);
  });
});

it('lists the kinds of tasks with what they need', async () => {
  const other = await service.otherTenant();
  const needs = async () => {
    const { body } = await other.http.get(KINDS);
    return body.map((kind: { category?: string; needs: string | null }) => [kind.category, kind.needs]);
  };
  // No engine is at work here.
  const none = await needs();
  expect(none.map(([category]: [string]) => category)).toEqual([
    undefined,
    'nsfw',
    'hard_nudity',
    'soft_nudity',
    'sport',
  ]);
  const { body: kinds } = await other.http.get(KINDS);
  expect(kinds[0].languages).toContain('ger');
  expect(kinds[1]).not.toHaveProperty('languages');
  expect(none[1][1]).toContain('npx tradewind engines install');
  await service.pool.query(
    `update workers set beat_at = now() + interval '1 hour', capabilities = '{"categories": ["nsfw"]}'`,
  );
  const some = await needs();
  expect(some.map(([category, need]: [string, string | null]) => need === null && category)).toContain('nsfw');
  expect(some[4]).toEqual(none[4]);
});
