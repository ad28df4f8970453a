import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Typed, tradewind } from '../test/support/cli.ts';

/** How the server answers, which is none of ours. */
let answer: http.RequestListener = (_request, response) => response.end();
const server = http.createServer((request, response) => answer(request, response));
let url = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const run = (line: string, typed: Typed = {}) =>
  tradewind(line, { environment: { TRADEWIND_URL: url, TRADEWIND_TOKEN: '1$secret' }, ...typed });

it('an answer that is lost after its head is no fault of the program', async () => {
  answer = (_request, response) => {
    response.writeHead(503, { 'content-length': '100' });
    response.write('busy', () => response.destroy());
  };
  const { code, err } = await run('project list');
  expect(code).toBe(3);
  expect(err).toContain(`${url} can't be reached`);
});

it('waiting ends after --timeout, also while no server is there', async () => {
  answer = (request) => request.destroy();
  expect((await run('wait task 1 --timeout 1')).code).toBe(3);
});

it('waiting for a task goes on when the server has been started again', async () => {
  const task = { id: '1', task_type: 'create_volume', state: 'RUNNING', error: null };
  let restarts = 0;
  answer = ({ url: path = '' }, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(path.includes('/steps') ? { done: 0, of: 1, steps: [] } : task));
    if (!path.includes('/steps') || ++restarts > 1) return;
    // Gone, with its connections, for as long as one question; then another process has the same address.
    const { port } = server.address() as net.AddressInfo;
    response.on('close', () => {
      server.closeAllConnections();
      server.close(() => {
        const gone = net.createServer((socket) => {
          socket.destroy();
          gone.close(() => {
            task.state = 'FINISHED';
            server.listen(port, '127.0.0.1');
          });
        });
        gone.listen(port, '127.0.0.1');
      });
    });
  };
  const { code, json } = await run('wait task 1 --json');
  expect([code, json, restarts]).toEqual([0, task, 1]);
});

it('no event moves the cursor of the terminal', async () => {
  answer = (_request, response) => {
    const resources = [{ name: 'web\u001b[2Jserver' }];
    const event = { time: 'now', type: 'a', subject: 'b', data: { resources } };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`id: 7\nevent: a\ndata: ${JSON.stringify(event)}\n\n`);
  };
  const { out } = await run('event follow --cursor 1 --count 1');
  expect(out).toBe('now  a  b  web [2Jserver\n');
});

it('an address with a password is refused, and not shown', async () => {
  const { code, err } = await run('project list', {
    environment: { TRADEWIND_URL: 'https://me:hidden@example.com', TRADEWIND_TOKEN: '1$secret' },
  });
  expect(code).toBe(2);
  expect(err).toContain('without a user');
  expect(err).not.toContain('hidden');
});

it('a question says what is deleted', async () => {
  const { code, err } = await run('webhook delete 42', { answer: 'n' });
  expect(code).toBe(2);
  expect(err).toContain(' 42: are you sure?');
});

it.each([
  [404, 1],
  [429, 3],
  [503, 3],
])('with --json, what the server says with a %s is its problem', async (status, exitCode) => {
  const problem = { status, title: 'No', detail: 'Not now' };
  answer = (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/problem+json' });
    response.end(JSON.stringify(problem));
  };
  const { code, err } = await run('project list --json');
  expect([code, JSON.parse(err)]).toEqual([exitCode, problem]);
});

it('CSV is printed as it comes, without pages', async () => {
  const asked: (string | undefined)[] = [];
  answer = (request, response) => {
    asked.push(request.url);
    response.writeHead(200, { 'content-type': 'text/csv' });
    response.end('a,b\r\n1,2\r\n');
  };
  expect((await run('usage costs --csv --by day')).out).toBe('a,b\r\n1,2\r\n');
  expect(asked).toEqual(['/tradewind/v1/costs?by=day']);
});
