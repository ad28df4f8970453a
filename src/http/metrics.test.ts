import { request } from 'node:http';
import os from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_HOST: '0.0.0.0' });
});
afterAll(() => service.stop());

test('measures requests by route, the process and the queue of AI tasks', async () => {
  await service.http.get('/cloud/v1/projects/1');
  await service.http.get('/cloud/v1/no-such-path');
  await service.http.post('/streaming/ai/tasks', { task_name: 'transcription', url: 'https://a.example/b' });
  const { status, headers, text } = await service.anonymous.get('/metrics');
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/plain; version=0.0.4/)]);
  expect(text).toMatch(
    /tradewind_http_request_duration_seconds_count\{method="GET",route="\/cloud\/v1\/projects\/:project_id"\} 1/,
  );
  expect(text).toMatch(/_requests_total\{method="GET",route="unknown",status="4xx"\} 1/);
  expect(text).toMatch(/tradewind_http_answers_total\{status="404"\} 1/);
  expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
  expect(text).toMatch(/^tradewind_ai_waiting_tasks\{status="PENDING"\} 1$/m);
  expect(text).toMatch(/^tradewind_ai_running_tasks 0$/m);
});

test('counts an operation once, under either address and for HEAD', async () => {
  for (const [method, path] of [
    ['GET', '/cloud/v1/ssh_keys/1'],
    ['GET', '/gcore/cloud/v1/ssh_keys/1'],
    ['HEAD', '/gcore/cloud/v1/ssh_keys/1'],
  ] as const) {
    expect((await service.http.request(method, path)).status).toBe(200);
  }
  const route = '{method="GET",route="/cloud/v1/ssh_keys/:project_id"';
  const counted = async () => (await service.anonymous.get('/metrics')).text.split('\n');
  await expect.poll(counted).toContain(`tradewind_http_request_duration_seconds_count${route}} 3`);
  await expect.poll(counted).toContain(`tradewind_http_requests_total${route},status="2xx"} 3`);
});

test('what a proxy passes on finds nothing', async () => {
  for (const header of ['forwarded', 'x-forwarded-for', 'x-real-ip']) {
    const answer = await service.anonymous.request('GET', '/metrics', {
      headers: { [header]: '203.0.113.9' },
    });
    expect(answer.status).toBe(404);
  }
});

test('a page in a browser here finds nothing under a name of its own', async () => {
  const { port } = new URL(service.url);
  const statusAs = (host: string) =>
    new Promise((resolve, reject) => {
      request({ host: '127.0.0.1', port, path: '/metrics', headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end();
    });
  for (const host of ['localhost', `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
    expect(await statusAs(host), host).toBe(200);
  }
  for (const host of ['rebound.example', `localhost.example:${port}`, '127.0.0.1.example', '192.0.2.1']) {
    expect(await statusAs(host), host).toBe(404);
  }
});

test('another machine finds nothing, unless the metrics are open', async () => {
  const outside = Object.values(os.networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4');
  if (!outside) {
    process.stderr.write('SKIPPED: this machine has no address besides its own loopback\n');
    return;
  }
  const statusFrom = (url: string) =>
    new Promise((resolve, reject) => {
      const { port } = new URL(url);
      request({ host: outside.address, port, path: '/metrics' }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end();
    });
  expect(await statusFrom(service.url)).toBe(404);
  await service.stop();
  service = await startService({ TRADEWIND_HOST: '0.0.0.0', TRADEWIND_METRICS: 'open' });
  expect(await statusFrom(service.url)).toBe(200);
});
