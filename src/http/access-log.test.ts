import net from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createHttpClient, SOON } from '../../test/support/http-client.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { loadConfig } from '../config.ts';
import { accessLogOf } from '../log.ts';

type Line = Record<string, unknown>;

const lines: Line[] = [];
let service: TestService;
beforeAll(async () => {
  const sink = { write: (text: string) => void lines.push(JSON.parse(text) as Line) };
  service = await startService(
    { TRADEWIND_ACCESS_LOG: 'on' },
    { log: pino({ level: 'info', base: null, redact: ['token'] }, sink) },
  );
});
afterAll(() => service?.stop());

/** Returns the log line of the request that `send` makes; it is written when the connection has finished the answer. */
async function lineOf(send: () => Promise<unknown>): Promise<Line> {
  const before = requests().length;
  await send();
  await vi.waitFor(() => expect(requests().length).toBe(before + 1), SOON);
  return requests().at(-1) ?? {};
}

const requests = () => lines.filter(({ msg }) => msg === 'request');

it('has one line for each request: who, what, how it went, how long', async () => {
  const line = await lineOf(() => service.http.get('/cloud/v1/projects?limit=7'));
  expect(line).toEqual({
    level: 30,
    time: expect.any(Number),
    msg: 'request',
    reqId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    method: 'GET',
    path: '/cloud/v1/projects',
    status: 200,
    ms: expect.any(Number),
    bytes: expect.any(Number),
    address: '127.0.0.1',
    client: 1,
    user: 1,
    token_id: 1,
  });
});

it('has those that were refused, are for everybody, or can not be read', async () => {
  const anonymous = (path: string) => lineOf(() => service.anonymous.get(path));
  expect(await anonymous('/cloud/v1/projects')).toMatchObject({ status: 401 });
  expect(await anonymous('/cloud/v1/projects')).not.toHaveProperty('client');
  expect(await anonymous('/healthz')).toMatchObject({ path: '/healthz', status: 200 });
  expect(await anonymous('/nowhere')).toMatchObject({ path: '/nowhere', status: 404 });
  expect(await anonymous('/cloud/%zz')).toMatchObject({ status: 400 });
});

it('holds no secret that is in a query, a header, a body or the wrong place', async () => {
  const secret = `5ec2e7${'0'.repeat(20)}`;
  const wrong = createHttpClient(service.url, `77_${secret}`);
  const before = lines.length;
  const jwt = `eyJhbGciOiJIUzI1NiJ9.${secret}.x`;
  const sent = [
    () => wrong.get(`/cloud/v1/projects?token=${secret}`),
    () => wrong.post('/iam/auth/jwt/login', { username: secret, password: secret }),
    () => wrong.get(`/iam/clients/77_${secret}`),
    () => wrong.get(`/iam/clients/77$${secret}`),
    () => wrong.get(`/iam/clients/77%24${secret}`),
    () => wrong.get(`/elsewhere/${jwt}/x`),
  ];
  for (const send of sent) await lineOf(send);
  const written = JSON.stringify(lines.slice(before));
  expect(written).toContain('/iam/clients/***');
  expect(written).not.toContain(secret);
});

it('has those whose client did not wait for the answer', async () => {
  const socket = net.connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.write(
    `POST /cloud/v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: apikey ${service.http.token}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  );
  // This is answered after half of the request arrived on another connection.
  await service.http.get('/cloud/v1/projects');
  socket.destroy();
  const gone = () => requests().find(({ status }) => status === 499);
  await vi.waitFor(() => expect(gone()).toMatchObject({ path: '/cloud/v1/projects', client: 1 }), SOON);
});

it('is on for machines and off for people, unless the setting says otherwise', () => {
  const on = (settings: Record<string, string>) => loadConfig(settings).accessLog;
  expect([on({}), on({ TRADEWIND_LOG_FORMAT: 'json' })]).toEqual([false, true]);
  expect(on({ TRADEWIND_ACCESS_LOG: 'on' })).toBe(true);
  expect(on({ TRADEWIND_ACCESS_LOG: 'off', TRADEWIND_LOG_FORMAT: 'json' })).toBe(false);
});

it('does not look for secrets in lines that have none', () => {
  const written: string[] = [];
  const log = pino({ base: null, redact: ['token'] }, { write: (text: string) => void written.push(text) });
  accessLogOf(log).info({ token: 'x' });
  log.info({ token: 'x' });
  expect(written.map((text) => JSON.parse(text).token)).toEqual(['x', '[Redacted]']);
});
