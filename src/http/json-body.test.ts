import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const PRICE = '/cloud/v1/pricing/1/1/volumes';
const price = async (raw: string) => {
  const { status, body } = await service.http.request('POST', PRICE, { raw });
  return [status, body.invalid_fields];
};

const TWICE = 'Is given more than once in the same object; send it once.';

describe('a body', () => {
  it.each([
    ['a name of NUL', '{"a\\u0000":1}', { body: [expect.stringMatching(/name.*NUL/)] }],
    ['NUL deep inside', '{"a":[{"b":"x\\u0000"}]}', { 'a.0.b': [expect.stringMatching(/NUL/)] }],
    ['half a pair', '{"a":"\\ud800"}', { a: [expect.stringMatching(/surrogate/)] }],
    ['__proto__', '{"a":{"__proto__":{}}}', { a: [expect.stringMatching(/__proto__/)] }],
    ['constructor', '{"constructor":{"prototype":1}}', { body: [expect.stringMatching(/constructor/)] }],
    ['depth', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, { [`${'a.'.repeat(31)}a`]: [expect.any(String)] }],
    ['no JSON', '{"a":', { body: [expect.stringMatching(/not valid JSON/)] }],
    ['a name twice', '{"source":"image","size":1,"source":"new-volume"}', { source: [TWICE] }],
    ['a name twice inside', '{"a":[{"b":1},{"b":1,"c":{},"\\u0062":1}]}', { 'a.1.b': [TWICE] }],
    ['many values', `[${'0,'.repeat(10_000)}0]`, { body: ['Must hold at most 10000 values.'] }],
  ])('is refused for %s, by the field', async (_, raw, fields) => {
    expect(await price(raw)).toEqual([400, fields]);
  });

  it('may begin with the mark of its byte order', async () => {
    expect((await price('\ufeff{"source":"new-volume","size":1,"type_name":"standard"}'))[0]).toBe(200);
  });

  const long = 'n'.repeat(100_000);
  it.each([
    ['unknown', `{"source":"new-volume","${long}":1}`],
    ['given twice', `{"${long}":1,"${long}":2}`],
    ['with a value that no field may have', `{"${long}":"\\u0000"}`],
  ])('names no more of a long field than a reader needs: %s', async (_, raw) => {
    const [status, fields] = await price(raw);
    expect([status, Object.keys(fields)]).toEqual([400, [`${'n'.repeat(200)}…`]]);
  });
});

it.each([
  ['gzip', { 'content-encoding': 'gzip' }],
  ['br', { 'content-encoding': 'BR' }],
  ['deflate, gzip', { 'content-encoding': 'deflate, gzip' }],
])('that is sent in %s is refused by the name of its encoding', async (_, encoding) => {
  const headers = { authorization: `apikey ${service.http.token}`, 'content-type': 'application/json' };
  const send = (body: Uint8Array, more: object) =>
    fetch(service.url + PRICE, { method: 'POST', headers: { ...headers, ...more }, body });
  const json = Buffer.from('{"source":"new-volume","size":1,"type_name":"standard"}');
  const refused = await send(gzipSync(json), encoding);
  expect([refused.status, refused.headers.get('accept-encoding')]).toEqual([415, 'identity']);
  expect(await refused.json()).toMatchObject({
    exception_class: 'HTTPError',
    message: `The body must be sent without Content-Encoding, not in ${encoding['content-encoding']}`,
  });
  expect((await send(json, { 'content-encoding': 'identity' })).status).toBe(200);
});

it('that is refused leaves the connection open', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  const send = (body: string) =>
    new Promise<http.IncomingHttpHeaders>((resolve, reject) => {
      const headers = { authorization: `apikey ${service.http.token}`, 'content-type': 'application/json' };
      const request = http.request(service.url + PRICE, { method: 'POST', agent, headers }, (answer) => {
        ports.add(request.socket?.localPort);
        answer.resume().on('end', () => resolve(answer.headers));
      });
      request.on('error', reject).end(body);
    });
  for (const body of ['{"a":', '{"a":"\\u0000"}', '{}']) {
    expect((await send(body)).connection, body).not.toBe('close');
  }
  expect(ports.size).toBe(1);
  expect((await send(`"${'a'.repeat(1_100_000)}"`)).connection).toBe('close');
  agent.destroy();
});
