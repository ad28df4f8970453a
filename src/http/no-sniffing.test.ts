import net from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../test/support/service.ts';
import type { Api } from './server.ts';
import { createWorkerServer } from './worker-server.ts';

let service: TestService;
let worker: Api;
beforeAll(async () => {
  service = await borrowService();
  const state = { role: 'worker', catalog: '', problems: {}, degraded: {} };
  worker = createWorkerServer({
    log: pino({ level: 'silent' }),
    readiness: { check: async () => state },
    metrics: { text: async () => '', open: true },
  });
  await worker.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  await worker?.close();
  await service?.stop();
});

/** Returns the head of the answer to a text that needn't be a request. */
function headOf(base: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(new URL(base).port), '127.0.0.1', () => socket.write(text));
    let read = '';
    socket.on('data', (chunk) => {
      read += chunk.toString('latin1');
      const end = read.indexOf('\r\n\r\n');
      if (end === -1) return;
      socket.destroy();
      resolve(read.slice(0, end));
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('There was no answer')));
  });
}
const request = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');
const workerUrl = () => `http://127.0.0.1:${(worker.server.address() as net.AddressInfo).port}`;
const apiKey = () => `Authorization: apikey ${service.http.token}`;

it.each([
  [200, () => request('GET /healthz')],
  [200, () => request('GET /readyz')],
  [200, () => request('GET /metrics')],
  [200, () => request('GET /openapi.json')],
  [200, () => request('GET /gcore/docs')],
  [200, () => request('GET /cloud/v1/projects', apiKey())],
  [200, () => request('HEAD /cloud/v1/projects', apiKey())],
  [200, () => request('GET /tradewind/v1/events', apiKey(), 'Accept: text/event-stream')],
  [400, () => request('GET /%zz')],
  [400, () => request('GET /a%00b')],
  [400, () => request('GET /healthz', 'Host: twice')],
  [400, () => request('POST /cloud/v1/projects', apiKey(), 'Content-Type: application/json', 'Content-Length: 0')],
  [400, () => 'no request\r\n\r\n'],
  [401, () => request('GET /cloud/v1/projects')],
  [404, () => request('GET /nothing')],
  [405, () => request('DELETE /healthz')],
  [417, () => request('GET /healthz', 'Expect: a-miracle')],
  [431, () => request('GET /healthz', `X-Long: ${'x'.repeat(100_000)}`)],
])('an answer with %i is not to be taken for something else: %s', async (status, text) => {
  const head = await headOf(service.url, text());
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/^x-content-type-options: nosniff$/im);
});

it.each([
  [200, request('GET /healthz')],
  [200, request('GET /metrics')],
  [404, request('GET /nothing')],
  [400, 'no request\r\n\r\n'],
])('neither is one of a worker with %i', async (status, text) => {
  const head = await headOf(workerUrl(), text);
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/^x-content-type-options: nosniff$/im);
});
