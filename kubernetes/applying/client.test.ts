import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeAuthority } from '../../src/backends/certificates/authority.ts';
import { Unavailable } from '../../src/backends/contract/backend.ts';
import { ApiError, type ClusterAccess, createClient } from './client.ts';

const POD = { apiVersion: 'v1', kind: 'Pod', name: 'one', namespace: 'default' };
const MEBIBYTE = 'x'.repeat(1024 * 1024);

let server: https.Server;
let access: ClusterAccess;
let answer: RequestListener;
beforeAll(async () => {
  const authority = await makeAuthority('CN=test', 1);
  const { certificate: cert, key } = await authority.forServer('CN=server', ['127.0.0.1']);
  server = https.createServer({ cert, key }, (request, response) => answer(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  access = { server: `https://127.0.0.1:${port}`, caCertificate: authority.certificate, token: 'sesame' };
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

async function get(of = access) {
  const client = createClient(of, AbortSignal.timeout(20_000));
  return client.get(POD).finally(() => client.close());
}

it.each(['/k8s/clusters/c-1', '/k8s/clusters/c-1/'])('the server may have a path, such as %s', async (at) => {
  const asked: unknown[] = [];
  answer = ({ url, headers }, response) => {
    asked.push(url, headers.authorization);
    response.end('{}');
  };
  await get({ ...access, server: `${access.server}${at}` });
  expect(asked).toEqual(['/k8s/clusters/c-1/api/v1/namespaces/default/pods/one', 'Bearer sesame']);
});

it.each([
  ['is overloaded', 429, '{"message": "too many requests"}'],
  ['does not know us yet', 401, '{"message": "Unauthorized"}'],
  ['breaks', 503, 'no endpoints'],
  ['is another program', 200, '<html>'],
])('asked again later: an API server that %s', async (_why, status, body) => {
  answer = (_, response) => response.writeHead(status).end(body);
  await expect(get()).rejects.toBeInstanceOf(Unavailable);
});

it('a refusal is told with its reason, and what is not there is not there', async () => {
  answer = (_, response) => response.writeHead(403).end('{"message": "no", "reason": "Forbidden"}');
  const error: ApiError = await get().then(
    () => expect.unreachable(),
    (refused) => refused,
  );
  expect(error).toBeInstanceOf(ApiError);
  expect([error.code, error.reason, error.message]).toEqual([403, 'Forbidden', 'no']);
  answer = (_, response) => response.writeHead(404).end('{"reason": "NotFound"}');
  expect(await get()).toBeUndefined();
});

it('an answer that breaks off, or has no end, is given up', async () => {
  answer = (_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('{', () => response.destroy());
  };
  await expect(get()).rejects.toThrow(/can not be reached/);
  answer = (_, response) => {
    const more = () => response.writable && response.write(MEBIBYTE, more);
    more();
  };
  await expect(get()).rejects.toThrow(/too long/);
});
