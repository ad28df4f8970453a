import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Backend, Call, Json } from '../src/backends/contract/backend.ts';
import { newSamples } from '../test/backends/samples.ts';
import { openBackend } from '../test/openstack/scenario.ts';

/** The smallest Keystone and Neutron that can lose an answer. */
let server: http.Server;
let backend: Backend;
let networks: { id: string; description: string }[];
let losesAnswers: boolean;
let creates: number;
/** Makes the network of an order that got no answer. */
let late: () => void;

const { id, spec } = newSamples().network;

beforeAll(async () => {
  server = http.createServer(async (request, response) => {
    const { method, url = '' } = request;
    const body = await text(request);
    const answer = (status: number, content: object, headers = {}) =>
      response.writeHead(status, headers).end(JSON.stringify(content));
    if (url.endsWith('/auth/tokens'))
      return answer(201, tokenOf(request.headers.host ?? ''), { 'x-subject-token': 't' });
    if (method === 'DELETE') {
      networks = networks.filter((one) => !url.endsWith(one.id));
      return response.writeHead(204).end();
    }
    const shown = networks.map((one) => ({ ...one, ...SHOWN }));
    if (url.startsWith('/v2.0/networks/')) {
      const [network] = shown.filter((one) => url.endsWith(one.id));
      return network ? answer(200, { network }) : answer(404, {});
    }
    if (method === 'GET') return answer(200, { routers: [], ports: [], networks: shown });
    creates++;
    const made = { ...JSON.parse(body).network, id: `network-${creates}` };
    late = () => networks.push(made);
    if (losesAnswers) return request.socket.destroy();
    late();
    return answer(201, { network: { ...made, ...SHOWN } });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());
beforeEach(() => {
  [networks, losesAnswers, creates] = [[], false, 0];
  const { port } = server.address() as AddressInfo;
  const auth = { auth_url: `http://127.0.0.1:${port}/v3`, username: 'u', password: 'p', project_name: 'ours' };
  backend = openBackend(JSON.stringify({ clouds: { one: { auth } } }), 'outside');
  vi.useFakeTimers({ toFake: ['Date'] });
  return () => vi.useRealTimers();
});

const SHOWN = { name: spec.name, status: 'ACTIVE' };

function tokenOf(host: string) {
  const endpoints = [{ interface: 'public', region_id: 'here', url: `http://${host}` }];
  const until = { issued_at: '2035-01-01T00:00:00Z', expires_at: '2035-01-02T00:00:00Z' };
  return {
    token: {
      ...until,
      user: { id: 'u' },
      project: { id: 'p', name: 'ours' },
      catalog: [{ type: 'network', endpoints }],
    },
  };
}

/** Calls as a worker does, with the handle that the one before has left. */
function newWorker() {
  let handle: Json = null;
  return async (wanted: typeof spec | null) => {
    const call: Call = {
      ...{ signal: new AbortController().signal, generation: 1, wasThere: false, log: pino({ level: 'silent' }) },
      secret: async () => undefined,
      async remember(now) {
        handle = now;
      },
    };
    const answer = await backend.converge({ kind: 'network', id, regionId: 1, projectId: 1, handle }, wanted, call);
    if (answer.handle !== undefined) handle = answer.handle;
    return answer.state;
  };
}

it('an order whose answer was lost is looked for before anything is ordered again', async () => {
  const work = newWorker();
  losesAnswers = true;
  await expect(work(spec)).rejects.toThrow(/can not be reached/);
  losesAnswers = false;
  expect(await work(spec)).toBe('progressing');
  expect(creates).toBe(1);
  late();
  expect(await work(spec)).toBe('settled');
  expect(creates).toBe(1);
});

it('an order that was lost itself is given again', async () => {
  const work = newWorker();
  losesAnswers = true;
  await expect(work(spec)).rejects.toThrow(/can not be reached/);
  losesAnswers = false;
  vi.setSystemTime(Date.now() + 20_000);
  expect(await work(spec)).toBe('progressing');
  expect(creates).toBe(2);
});

it('what an order without an answer makes late does not outlive its removal', async () => {
  const work = newWorker();
  losesAnswers = true;
  await expect(work(spec)).rejects.toThrow(/can not be reached/);
  expect(await work(null)).toBe('progressing');
  late();
  expect(await work(null)).toBe('progressing');
  expect(await work(null)).toBe('settled');
  expect(networks).toEqual([]);
});

it('what was ordered without an answer long ago is gone', async () => {
  const work = newWorker();
  losesAnswers = true;
  await expect(work(spec)).rejects.toThrow(/can not be reached/);
  vi.setSystemTime(Date.now() + 70_000);
  expect(await work(null)).toBe('settled');
});
