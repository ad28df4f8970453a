import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

/** The body as it was sent: `fetch` would unpack it. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>((resolve, reject) => {
    request(service.url + path, { method, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer
        .on('data', (part: Buffer) => parts.push(part))
        .on('end', () => {
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) });
        });
    })
      .on('error', reject)
      .end();
  });
}

const DOCUMENTS = ['/openapi.json', '/gcore/openapi.json', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css'];

describe.each(DOCUMENTS)('%s', (path) => {
  it.each([
    ['gzip', 'gzip', gunzipSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['br;q=0.1, gzip;q=0.9', 'gzip', gunzipSync],
    ['*', 'br', brotliDecompressSync],
  ])('is compressed for a client that accepts "%s"', async (accepted, encoding, unpacked) => {
    const plain = await get(path);
    const small = await get(path, { 'accept-encoding': accepted });
    expect([small.status, small.headers['content-encoding'], small.headers.vary]).toEqual([
      200,
      encoding,
      'accept-encoding',
    ]);
    expect(small.headers['content-type']).toBe(plain.headers['content-type']);
    expect(small.headers['content-length']).toBe(String(small.body.length));
    expect(small.body.length).toBeLessThan(plain.body.length / 3);
    expect(unpacked(small.body).equals(plain.body)).toBe(true);
  });

  it.each(['', 'identity', 'gzip;q=0, br;q=0', 'zstd'])('is plain for "%s"', async (accepted) => {
    const { status, headers } = await get(path, { 'accept-encoding': accepted });
    expect([status, headers['content-encoding'], headers.vary]).toEqual([200, undefined, 'accept-encoding']);
  });

  it('has a tag for each encoding, and is not sent again to who has it', async () => {
    const [plain, small] = [await get(path), await get(path, { 'accept-encoding': 'gzip' })];
    expect(small.headers.etag).not.toBe(plain.headers.etag);
    const again = (tag: string) => get(path, { 'accept-encoding': 'gzip', 'if-none-match': tag });
    const known = await again(`"other", W/${small.headers.etag}`);
    expect([known.status, known.body.length, known.headers.etag]).toEqual([304, 0, small.headers.etag]);
    expect(known.headers.vary).toBe('accept-encoding');
    expect((await again('*')).status).toBe(304);
    expect((await again(String(plain.headers.etag))).status).toBe(200);
  });

  it('answers HEAD with the same head', async () => {
    const accept = { 'accept-encoding': 'gzip' };
    const [asked, got] = [await get(path, accept, 'HEAD'), await get(path, accept)];
    expect([asked.status, asked.body.length]).toEqual([200, 0]);
    for (const name of ['etag', 'vary', 'content-encoding', 'content-length', 'content-type']) {
      expect(asked.headers[name], name).toBe(got.headers[name]);
    }
  });
});

it('leaves what is small and what belongs to an account as it is', async () => {
  const accept = { 'accept-encoding': 'gzip, br', authorization: `apikey ${service.http.token}` };
  for (const path of ['/docs', '/cloud/v1/flavors/1/1', '/cloud/v1/projects', '/tradewind/v1/events?limit=1']) {
    const { status, headers } = await get(path, accept);
    expect([path, status, headers['content-encoding']]).toEqual([path, 200, undefined]);
  }
});
