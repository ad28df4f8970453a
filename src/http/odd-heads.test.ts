import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** What the service answers to lines that no HTTP client would send. */
async function answerTo(...lines: string[]): Promise<string> {
  const socket = net.connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.end(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += String(chunk);
  });
  await once(socket, 'close');
  return answer;
}

it.each([
  ['Host: one.example', 'Host: other.example'],
  ['Host: one.example', 'hOsT: one.example'],
])('refuses two hosts: %s and %s', async (...hosts) => {
  const answer = await answerTo('GET /healthz HTTP/1.1', ...hosts);
  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  expect(answer).toContain('Host: Give this header once.');
  expect(await answerTo('GET /healthz HTTP/1.1', 'Host: one.example')).toMatch(/^HTTP\/1.1 200 /);
});

it.each([
  ['GET', '/cloud/v1/projects/', '; leave out the slash at its end: /cloud/v1/projects'],
  ['GET', '/cloud/v1/projects/?limit=1', '; leave out the slash at its end: /cloud/v1/projects'],
  ['DELETE', '/cloud/v1/projects/', '; leave out the slash at its end: /cloud/v1/projects'],
  ['GET', '/cloud/v1/networks/1/1/', '; leave out the slash at its end: /cloud/v1/networks/1/1'],
  ['POST', '/gcore/cloud/v1/projects/1/', '; leave out the slash at its end: /gcore/cloud/v1/projects/1'],
  ['GET', '/nothing/', '; leave out the slash at its end: /nothing'],
  ['GET', '/cloud/v1/networks//1', '; it has nothing between two of its slashes'],
])('says of %s %s what is wrong with the path', async (method, path, hint) => {
  const answer = await service.http.request(method, path);
  expect([answer.status, answer.body.message]).toEqual([404, `Path ${path.split('?')[0]} not found${hint}`]);
});

it('still leads to the documentation', async () => {
  for (const path of ['/gcore/', '/docs/']) {
    expect((await service.anonymous.get(path)).status).toBe(302);
  }
});
