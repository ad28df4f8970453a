import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Refused, Unavailable, Unsupported } from '../../src/backends/contract/backend.ts';
import { type Api, createClient } from './client.ts';
import { CloudError, isGone, isInTheWay } from './errors.ts';

type Reply = { status?: number; body?: unknown; headers?: Record<string, string> };

let server: http.Server;
let origin: string;
let api: Api;
let logins: number;
let requests: http.IncomingMessage[];
let reply: (path: string, token: string) => Reply;
/** What answers wait for. */
let held: () => Promise<unknown>;

beforeAll(async () => {
  server = http.createServer(async (request, response) => {
    requests.push(request);
    await held();
    const {
      status = 200,
      body = {},
      headers = {},
    } = request.url === '/v3/auth/tokens'
      ? tokenReply()
      : reply(request.url ?? '', String(request.headers['x-auth-token']));
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  logins = 0;
  requests = [];
  reply = () => ({});
  held = async () => {};
  const access = { name: 'mine', authUrl: `${origin}/v3`, auth: {}, region: 'here', interface: 'public' };
  api = createClient(access).on({ log: pino({ level: 'silent' }), signal: new AbortController().signal });
});

function tokenReply(): Reply {
  const endpoint = (path: string) => ({ interface: 'public', region_id: 'here', url: `${origin}${path}` });
  const token = {
    expires_at: '2035-01-02T00:00:00Z',
    issued_at: '2035-01-01T00:00:00Z',
    user: { id: 'u' },
    project: { id: 'p', name: 'ours' },
    catalog: [
      { type: 'network', endpoints: [endpoint('/neutron/')] },
      { type: 'volumev3', endpoints: [endpoint('/cinder')] },
    ],
  };
  return { status: 201, body: { token }, headers: { 'x-subject-token': `token ${++logins}` } };
}

const Thing = Type.Object({ id: Type.String() });

it('keeps one token for all requests, also for those that begin at the same time', async () => {
  await Promise.all([1, 2, 3].map(() => api.get('network', '/networks', Type.Unknown())));
  expect(logins).toBe(1);
  expect(requests.map(({ url }) => url)).toContain('/neutron/v2.0/networks');
});

it('gets another token when the former is refused, once', async () => {
  reply = (_path, token) => ({ status: token === 'token 1' ? 401 : 200 });
  await api.get('network', '/networks', Type.Unknown());
  expect(logins).toBe(2);
  reply = () => ({ status: 401 });
  await expect(api.get('network', '/networks', Type.Unknown())).rejects.toThrow(/^Neutron does not accept/);
  expect(logins).toBe(3);
});

it('asks for a low version of an API, and follows a list to its end with the same filter', async () => {
  reply = (path) =>
    path.includes('marker=b')
      ? { body: { volumes: [{ id: 'c' }] } }
      : {
          body: {
            volumes: [{ id: 'a' }, { id: 'b' }],
            volumes_links: [{ rel: 'next', href: 'http://inside/v3/x?marker=b' }],
          },
        };
  expect(await api.list('volume', '/volumes', Thing, { name: 'x' })).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
  expect(requests.at(-1)).toMatchObject({
    url: '/cinder/volumes?name=x&marker=b',
    headers: { 'openstack-api-version': 'volume 3.59' },
  });
});

it.each([
  [
    'a quota of Neutron',
    409,
    { NeutronError: { type: 'OverQuota', message: 'Quota exceeded' } },
    Refused,
    'Neutron refuses it: Quota exceeded',
    false,
  ],
  [
    'a thing in use',
    409,
    { NeutronError: { type: 'SubnetInUse', message: 'in use' } },
    Refused,
    'Neutron refuses it: in use',
    true,
  ],
  [
    'a lacking right',
    403,
    { NeutronError: { type: 'PolicyNotAuthorized', message: 'create_port' } },
    Unsupported,
    "The backend's credentials lack a right: create_port",
    false,
  ],
  [
    'text of Glance',
    409,
    '<html><h1>409 Conflict</h1> busy -> later</html>',
    Refused,
    'Neutron refuses it: 409 Conflict busy -> later',
    true,
  ],
  ['an overload', 503, { message: 'later' }, Unavailable, 'Neutron answers 503: later', false],
] as const)('says what an answer means: %s', async (_name, status, body, kind, message, inTheWay) => {
  reply = () => ({ status, body });
  const error = await api.send('network', 'POST', '/ports', {}).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(kind);
  expect([(error as Error).message, isInTheWay(error)]).toEqual([message, inTheWay]);
});

it.each([
  ['volume', 400, '', 'Invalid volume: Volume status must be available', true],
  ['volume', 400, '', 'Size of specified image 12GB is larger than volume size 10GB.', false],
  ['compute', 400, '', "Invalid volume: Volume status must be 'in-use' to detach.", true],
  ['compute', 400, '', 'Flavor disk is too small for the image', false],
  ['network', 409, 'ExternalIpAddressExhausted', 'Unable to find any IP address', false],
] as const)('knows what passes: %s %i %s %s', (service, status, type, message, passes) => {
  expect(isInTheWay(new CloudError(service, status, { type, message }, undefined))).toBe(passes);
});

it('waits longer after a change whose end is unclear than after a question, and as long as it is told', async () => {
  reply = () => ({ status: 502 });
  await expect(api.send('network', 'POST', '/ports', {})).rejects.toMatchObject({ retryAfterMs: 15_000 });
  await expect(api.get('network', '/ports', Thing)).rejects.toMatchObject({ retryAfterMs: undefined });
  reply = () => ({ status: 429, headers: { 'retry-after': '7' } });
  await expect(api.get('network', '/ports', Thing)).rejects.toMatchObject({ retryAfterMs: 7_000 });
});

it('finds nothing where there is nothing, and tells of an answer in another form', async () => {
  reply = () => ({ status: 404, body: { itemNotFound: { message: 'no such volume' } } });
  expect(await api.find('volume', '/volumes/x', Thing)).toBeUndefined();
  await expect(api.get('volume', '/volumes/x', Thing)).rejects.toSatisfy(isGone);
  reply = () => ({ body: { id: 5 } });
  await expect(api.get('volume', '/volumes/x', Thing)).rejects.toThrow(
    /^Cinder answers in another form .*\/id must be string/,
  );
  reply = () => ({ body: 'hello' });
  await expect(api.get('volume', '/volumes/x', Thing)).rejects.toThrow('Cinder answers something else than JSON');
  await expect(api.get('compute', '/servers', Thing)).rejects.toThrow('the cloud has no Nova in its catalogue');
});

it('a change goes on when nobody waits for it any more, and a question ends', async () => {
  const gone = new AbortController();
  const access = { name: 'mine', authUrl: `${origin}/v3`, auth: {}, region: undefined, interface: 'public' };
  const left = createClient(access).on({ log: pino({ level: 'silent' }), signal: gone.signal });
  await left.projectId();
  const reason = new Error('the process stops');
  // The answers come later than the end.
  const asked = new Promise<void>((resolve) => {
    held = () => {
      if (requests.length === 3) resolve();
      return ended;
    };
  });
  const ended = asked.then(() => gone.abort(reason));
  const change = left.send('network', 'POST', '/networks', {});
  const question = left.get('network', '/networks', Type.Unknown()).catch((error: unknown) => error);
  expect(await question).toBe(reason);
  await expect(change).resolves.toEqual({});
  await expect(left.get('network', '/networks', Type.Unknown())).rejects.toBe(reason);
});
