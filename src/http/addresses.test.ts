import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

it.each(['0x1', '0b1', '1e0', '1.0', '+1', '01', '-0', '%201', '1%20', '1%0a', '%0a', '%D9%A1', '1,2', 'null', 'true'])(
  'takes %s for no id in a path, and for no number in a query',
  async (text) => {
    const path = await service.http.get(`/cloud/v1/projects/${text}`);
    expect(path.body.invalid_fields).toEqual({ project_id: ['Must be an integer.'] });
    const query = await service.http.get(`/cloud/v1/projects?limit=${text}`);
    // In a query, "+" is a space.
    expect(query.body.invalid_fields).toEqual({ limit: ['Must be an integer.'] });
  },
);

it.each(['-1', '9007199254740992', '1'.repeat(400)])('says of the integer %s that it is out of range', async (id) => {
  const answer = await service.http.get(`/cloud/v1/projects/${id}`);
  expect(answer.body.invalid_fields).toEqual({
    project_id: [expect.stringMatching(/^Must be at (least|most)/)],
  });
});

it.each([
  ['QUERY', undefined],
  ['PUT', 'application/json'],
  ['PUT', 'text/plain'],
])('answers 405 to a %s with a body of type %s, before it looks at the body', async (method, type) => {
  const answer = await fetch(`${service.url}/v1/tasks/1`, {
    method,
    ...(type && { body: '{', headers: { 'content-type': type } }),
  });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

it.each([3, 101, 499])('answers 405 with Allow where a path parameter has %i characters', async (length) => {
  const answer = await service.http.request('PATCH', `/v1/tasks/${'x'.repeat(length)}`);
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

/** Returns the service's answer to lines that no HTTP client would send. */
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
  expect(answer).toContain('Host: Send this header only once.');
  expect(await answerTo('GET /healthz HTTP/1.1', 'Host: one.example')).toMatch(/^HTTP\/1.1 200 /);
});

it.each([
  ['GET', '/cloud/v1/projects/', '; remove the slash at its end: /cloud/v1/projects'],
  ['GET', '/cloud/v1/projects/?limit=1', '; remove the slash at its end: /cloud/v1/projects'],
  ['DELETE', '/cloud/v1/projects/', '; remove the slash at its end: /cloud/v1/projects'],
  ['GET', '/cloud/v1/networks/1/1/', '; remove the slash at its end: /cloud/v1/networks/1/1'],
  ['POST', '/gcore/cloud/v1/projects/1/', '; remove the slash at its end: /gcore/cloud/v1/projects/1'],
  ['GET', '/nothing/', '; remove the slash at its end: /nothing'],
  [
    'GET',
    '/gcore/cloud/v1/apptemplates/1/1',
    ': not served by Tradewind; see /docs and docs/reference/compatibility.md',
  ],
  ['POST', '/iam/nothing', ': not served by Tradewind; see /docs and docs/reference/compatibility.md'],
  ['GET', '/cloud/v1/networks//1', '; it has two slashes in a row with nothing between them'],
])('says of %s %s what is wrong with the path', async (method, path, hint) => {
  const answer = await service.http.request(method, path);
  expect([answer.status, answer.body.message]).toEqual([404, `Path ${path.split('?')[0]} not found${hint}`]);
});

const UUID = '0b6c8a3e-4a3e-4d5c-9a51-0f3d7e2f1c11';

it.each([
  ['the other version', 'GET', `/cloud/v2/volumes/1/1/${UUID}`, `/cloud/v1/volumes/1/1/${UUID}`],
  ['the other version', 'POST', '/cloud/v1/limits_request', '/cloud/v2/limits_request'],
  [
    'the other version',
    'POST',
    `/gcore/cloud/v1/instances/1/1/${UUID}/action`,
    `/gcore/cloud/v2/instances/1/1/${UUID}/action`,
  ],
  ['one misspelt part', 'GET', '/cloud/v1/k8s/cluster/1/1', '/cloud/v1/k8s/clusters/1/1'],
  ['one misspelt part', 'POST', `/cloud/v1/instances/1/1/${UUID}/rebot`, `/cloud/v1/instances/1/1/${UUID}/reboot`],
  ['one misspelt part', 'GET', '/cloud/v1/security_groups/1/1', '/cloud/v1/securitygroups/1/1'],
  ['the other version', 'POST', '/cloud/v2/securitygroups/1/1', '/cloud/v1/securitygroups/1/1'],
  ['one part that is missing', 'GET', '/v1/projects', '/cloud/v1/projects'],
  ['one part that is missing', 'GET', '/cloud/v1/instances/1', '/cloud/v1/instances/1/{region_id}'],
  ['one part that is missing', 'GET', '/iam/tokens?limit=1', undefined],
  ['nothing that is documented', 'GET', '/metric', undefined],
  ['nothing that is documented', 'GET', '/healthy', undefined],
  ['nothing near', 'GET', '/cloud/v1/k9s/klusterz/1/1', undefined],
  ['nothing near', 'GET', `/cloud/v1${'/projects'.repeat(20)}`, undefined],
])('names the path that was meant, by %s: %s %s', async (_, method, address, meant) => {
  const path = address.split('?')[0];
  const answer = await service.anonymous.request(method, address);
  expect(answer.status).toBe(404);
  expect(answer.body.message).toBe(
    `Path ${path} not found: ${meant ? `did you mean ${meant}? /docs lists all paths` : 'not served by Tradewind; see /docs and docs/reference/compatibility.md'}`,
  );
});

it.each([
  ['/cloud/v1/projects', 'DELETE', 'this path takes GET, HEAD, POST'],
  ['/cloud/v1/instances/1/1', 'POST', 'this path takes GET, HEAD; POST is at /cloud/v2/instances/1/1'],
  ['/gcore/cloud/v2/instances/1/1', 'GET', 'this path takes POST; GET is at /gcore/cloud/v1/instances/1/1'],
])('says of %s what it takes instead of %s', async (path, method, words) => {
  const answer = await service.http.request(method, path);
  expect([answer.status, answer.body.message]).toEqual([405, `HTTP 405: Method Not Allowed; ${words}`]);
  expect(words).toContain(answer.headers.get('allow'));
});

it('still leads to the documentation', async () => {
  for (const path of ['/gcore/', '/docs/']) {
    expect((await service.anonymous.get(path)).status).toBe(302);
  }
});
