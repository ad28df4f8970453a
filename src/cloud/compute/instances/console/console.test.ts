import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { simulated } from '../../../../../simulation/maker.ts';
import { BOOT_VOLUME } from '../../../../../test/support/boot-volume.ts';
import { catalogOfBackends } from '../../../../../test/support/catalogs.ts';
import { createHttpClient, type HttpClient, SOON } from '../../../../../test/support/http-client.ts';
import { clusterBody } from '../../../../../test/support/possessions.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';
import type { Makers } from '../../../../backends/maker.ts';

/** Machines of region 2 have no consoles, those of region 3 have some elsewhere. */
const ELSEWHERE = { protocol: 'vnc', type: 'novnc', url: 'https://vnc.example.com/?token=abc' };
const makers: Makers = {
  simulated,
  mute: {
    ...simulated,
    make(given, host) {
      const { consoleOf: _, ...backend } = simulated.make(given, host);
      return backend;
    },
  },
  elsewhere: {
    ...simulated,
    make: (given, host) => ({ ...simulated.make(given, host), consoleOf: async () => ELSEWHERE }),
  },
};
const folder = catalogOfBackends({ 2: 'mute', 3: 'elsewhere' });

let service: TestService;
let id: string;
beforeAll(async () => {
  service = await startService({ TRADEWIND_CATALOG_DIR: folder, TRADEWIND_TEST_API: 'true' }, { makers });
  id = await instance(1);
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const I = (region = 1) => `/cloud/v1/instances/1/${region}`;
const finished = async ({ status, text, body }: { status: number; text: string; body: string[] }) => {
  expect(status, text).toBe(200);
  const task = await service.http.task(String(body[0]));
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task.created_resources;
};

async function instance(region: number, name = 'web-1'): Promise<string> {
  const network = (await service.http.get(`/cloud/v1/networks/1/${region}`)).body.results[0].id;
  const made = await service.http.post(`/cloud/v2/instances/1/${region}`, {
    name,
    flavor: (await service.http.get(`/cloud/v1/flavors/1/${region}?disabled=false`)).body.results[0].flavor_id,
    interfaces: [{ type: 'any_subnet', network_id: network }],
    volumes: [BOOT_VOLUME],
  });
  return (await finished(made)).instances[0];
}

async function address(of = id, { as = service.http, query = '' }: { as?: HttpClient; query?: string } = {}) {
  const answer = await as.get(`${I()}/${of}/get_console${query}`);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return String(answer.body.remote_console.url);
}

const opened: WebSocket[] = [];

afterEach(() => {
  for (const socket of opened.splice(0)) socket.terminate();
});

/** Connects, and keeps what is shown. */
async function view(url: string, options: WebSocket.ClientOptions = {}) {
  const socket = new WebSocket(url, options);
  opened.push(socket);
  let shown = '';
  const closed = new Promise<string>((resolve) => {
    socket.once('close', (code, reason) => resolve(`${code} ${reason}`));
  });
  socket.on('message', (data: Buffer) => {
    shown += data.toString();
  });
  await once(socket, 'open');
  const shows = (text: string | RegExp) => expect.poll(() => shown, SOON).toMatch(text);
  return { socket, closed, shows, type: (text: string) => socket.send(text), shown: () => shown };
}

/** Returns the status and the text of a refused handshake. */
function refused(url: string, options: WebSocket.ClientOptions = {}): Promise<[number | undefined, string]> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, options);
    socket.on('open', () => reject(new Error('it was accepted')));
    socket.on('error', () => {});
    socket.on('unexpected-response', async (_request, response) => {
      resolve([response.statusCode, (await response.toArray()).join('')]);
    });
  });
}

describe('the console of a simulated machine', () => {
  it('shows a boot log and a prompt, also to the one who comes later, and answers what is typed', async () => {
    const url = await address();
    expect(url).toMatch(`${service.url.replace('http', 'ws')}/tradewind/v1/instance-console?token=`);
    const { shows, type, shown } = await view(url);
    await shows(/Booting a simulated machine\r\n.*web-1 login: $/s);
    expect(shown()).toMatch(/net: [0-9a-f:]{17} has 10\./);
    expect(shown()).toMatch(/disk: .*10 GiB, from image/);
    type('rx\x7foot');
    await shows('rx\b \boot');
    type('\r');
    await shows(/runs no guest.*web-1 login: $/s);
    const second = await view(await address());
    await second.shows(/login: $/);
  });

  it('shows another boot after a reboot, and ends when the machine stops', async () => {
    const other = await instance(1, 'web-2');
    const { shows, closed } = await view(await address(other));
    await shows(/boot 1\r\n.*login: $/s);
    await service.http.post(`${I()}/${other}/reboot`);
    await shows(/Restarting.*boot 2\r\n.*login: $/s);
    await service.http.post(`${I()}/${other}/stop`);
    expect(await closed).toMatch(/^(1000 The console has ended|1008 Instance \S+ is stopped)/);
    const answer = await service.http.get(`${I()}/${other}/get_console`);
    expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining('is stopped')]);
  });

  it('ends when the instance is deleted', async () => {
    const other = await instance(1, 'web-3');
    const { shows, closed } = await view(await address(other));
    await shows(/login: $/);
    await finished(await service.http.delete(`${I()}/${other}`));
    expect(await closed).toMatch(/^(1000|1008) /);
  });

  it('is there for nodes of clusters as well', async () => {
    const cluster = await clusterBody(service.http);
    await finished(await service.http.post('/cloud/v1/k8s/clusters/1/1', cluster));
    const { results } = (await service.http.get(`/cloud/v1/k8s/clusters/1/1/${cluster.name}/instances`)).body;
    const { shows } = await view(await address(results[0].id));
    await shows(`${results[0].name} login: `);
  });

  it('is serial, and no other type', async () => {
    expect(await address(id, { query: '?console_type=serial' })).toContain('ws://');
    const answer = await service.http.get(`${I()}/${id}/get_console?console_type=novnc`);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(/has no consoles of type novnc/);
  });
});

describe('other infrastructure', () => {
  it('may have no consoles', async () => {
    const answer = await service.http.get(`${I(2)}/${await instance(2)}/get_console`);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(/region .* has no consoles\./)]);
  });

  it('may have consoles of its own', async () => {
    const answer = await service.http.get(`${I(3)}/${await instance(3)}/get_console`);
    expect([answer.status, answer.body]).toEqual([200, { remote_console: ELSEWHERE }]);
  });
});

describe('a console is refused', () => {
  it('to whoever may only read, and to other tenants', async () => {
    const reader = await service.withRole('Users');
    expect((await reader.get(`${I()}/${id}/get_console`)).status).toBe(403);
    const { http: other, projectId } = await service.otherTenant();
    expect((await other.get(`${I()}/${id}/get_console`)).status).toBe(404);
    expect((await other.get(`/cloud/v1/instances/${projectId}/1/${id}/get_console`)).status).toBe(404);
  });

  it('without a ticket, with a part of one, and with another token', async () => {
    const url = await address();
    const [base, ticket = ''] = url.split('?token=');
    expect((await refused(`${base}`))[0]).toBe(400);
    const [head, payload, signature] = ticket.split('.');
    const changed = JSON.parse(Buffer.from(payload ?? '', 'base64url').toString());
    changed.instance = crypto.randomUUID();
    const forged = [head, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.');
    for (const token of ['x', ticket.slice(0, -3), forged, service.http.token]) {
      expect(await refused(`${base}?token=${token}`)).toEqual([401, expect.stringContaining('good for a minute')]);
    }
    expect((await createHttpClient(service.url, ticket, 'Bearer').get('/cloud/v1/projects')).status).toBe(401);
  });

  it('to pages of other hosts', async () => {
    const url = await address();
    const origin = 'https://evil.example';
    expect(await refused(url, { origin })).toEqual([403, expect.stringContaining('Only pages of 127.0.0.1')]);
    expect((await refused(url, { origin: 'null' }))[0]).toBe(403);
    await view(url, { origin: service.url });
  });

  it('once the ticket is a minute old', async () => {
    const url = await address();
    await service.http.post('/tradewind/v1/test/clock', { advance_s: 61 });
    expect((await refused(url))[0]).toBe(401);
    await service.http.post('/tradewind/v1/test/clock', { advance_s: -61 });
  });

  it('once the token with which it was asked for is deleted, also if it is open', async () => {
    const made = await service.http.post('/iam/v2/clients/1/tokens', {
      name: 'short',
      exp_date: null,
      client_user: { role: { name: 'Engineers' } },
    });
    const as = createHttpClient(service.url, made.body.token);
    const [url, unused] = [await address(id, { as }), await address(id, { as })];
    const { closed } = await view(url);
    const { results } = (await service.http.get('/iam/clients/1/tokens')).body;
    const list = results ?? (await service.http.get('/iam/clients/1/tokens')).body;
    const token = list.find(({ name }: { name: string }) => name === 'short');
    expect((await service.http.delete(`/iam/clients/1/tokens/${token.id}`)).status).toBe(204);
    expect(await closed).toMatch(/^1008 /);
    expect((await refused(unused))[0]).toBe(401);
  });

  it('where the account has ten already, until one is closed', async () => {
    const urls = await Promise.all(Array.from({ length: 11 }, () => address()));
    const viewers = await Promise.all(urls.slice(0, 10).map((url) => view(url)));
    expect(await refused(urls[10] ?? '')).toEqual([429, expect.stringContaining('10 consoles already')]);
    expect((await service.http.get(`${I()}/${id}/get_console`)).status).toBe(429);
    viewers[0]?.socket.close();
    await expect.poll(async () => (await service.http.get(`${I()}/${id}/get_console`)).status, SOON).toBe(200);
  });

  it('to whoever sends too much at once', async () => {
    const { type, closed } = await view(await address());
    type('x'.repeat(100_000));
    expect(await closed).toMatch(/^1009/);
  });

  it('to whoever asks for no WebSocket', async () => {
    const url = (await address()).replace('ws:', 'http:');
    const answer = await fetch(url);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('as a WebSocket')]);
  });
});

it('is in the audit log', async () => {
  await address();
  const { results } = (await service.http.get('/cloud/v1/request_log?limit=1')).body;
  expect(JSON.stringify(results[0])).toContain('getInstanceConsole');
});

describe('a connection', () => {
  const connect = (allowHalfOpen = false) => {
    const { hostname, port } = new URL(service.url);
    const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen });
    socket.on('error', () => {});
    return socket;
  };
  const asking = (protocol: string, of = '/tradewind/v1/instance-console?token=x') =>
    `GET ${of} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;

  it('is cut if it asks for another protocol before it has its answers', async () => {
    for (const protocol of ['websocket', 'h2c']) {
      const socket = connect();
      socket.write(`GET /cloud/v1/regions HTTP/1.1\r\nHost: a\r\n\r\n${asking(protocol)}`);
      await once(socket.resume(), 'close');
    }
    expect((await service.anonymous.get('/healthz')).status).toBe(200);
  });

  it('does not outlive its refusal, though its client keeps it', async () => {
    const socket = connect(true);
    socket.write(asking('websocket'));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1.1 40[01] /);
    // It learns that the server is gone when it says more.
    await expect.poll(() => socket.destroyed || !socket.write('more'), SOON).toBe(true);
  });
});

it('requests for other protocols are answered as if they asked for none', async () => {
  const { hostname, port } = new URL(service.url);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (method: string, url: string, body?: string) =>
    new Promise<[number | undefined, string]>((resolve, reject) => {
      const headers = {
        authorization: `apikey ${service.http.token}`,
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA',
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': body.length }),
      };
      const request = http.request({ hostname, port, agent, method, path: url, headers }, async (response) =>
        resolve([response.statusCode, (await response.toArray()).join('')]),
      );
      request.once('error', reject).end(body);
    });
  expect(await ask('GET', '/cloud/v1/projects')).toEqual([200, expect.stringContaining('"results"')]);
  const body = JSON.stringify({ name: 'upgraded' });
  expect(await ask('POST', '/cloud/v1/projects', body)).toEqual([201, expect.stringContaining('"upgraded"')]);
  expect((await ask('GET', '/cloud/v1/projects'))[1]).toContain('"upgraded"');
  agent.destroy();
});

it('the address is that of the caller, by TLS if the operator says so, and a stop ends what is open', async () => {
  const settings = { TRADEWIND_CATALOG_DIR: folder, TRADEWIND_PUBLIC_URL: 'https://cloud.example.com' };
  const stopping = await startService(settings, { makers });
  const whole = service;
  service = stopping;
  const talks = await instance(1);
  const { closed, shows } = await view(await address(talks));
  service = whole;
  const { hostname, port } = new URL(stopping.url);
  const headers = { authorization: `apikey ${stopping.http.token}`, host: 'cloud.example.com' };
  const [answer] = await once(http.get({ hostname, port, path: `${I()}/${talks}/get_console`, headers }), 'response');
  const { remote_console } = JSON.parse((await answer.toArray()).join(''));
  expect(remote_console.url).toMatch('wss://cloud.example.com/tradewind/v1/instance-console?token=');
  await shows(/login: $/);
  await stopping.stop();
  expect(await closed).toMatch(/^1001 The server is stopping/);
});
