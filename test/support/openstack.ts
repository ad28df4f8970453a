import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { stringify } from 'yaml';

export const EXTERNAL = '5f0f9a3e-2b61-4d7c-8a55-0d1c2e3f4a5b';

/** What a cloud of the tests has, by the path of the request. */
const ANSWERS: Record<string, object> = {
  '/compute/': {
    versions: [
      { id: 'v2.0', status: 'SUPPORTED', version: '' },
      { id: 'v2.1', status: 'CURRENT', version: '2.93' },
    ],
  },
  '/network/': { versions: [{ id: 'v2.0', status: 'CURRENT' }] },
  '/volume/': { versions: [{ id: 'v3.0', status: 'CURRENT', version: '3.70' }] },
  '/image/': { versions: [{ id: 'v2.15', status: 'CURRENT' }] },
  '/compute/v2.1/flavors/detail': {
    flavors: [
      { id: '1', name: 'G1-Standard-1-2', vcpus: 1, ram: 2048, disk: 20, extra_specs: {} },
      { id: '2', name: 'm1.medium', vcpus: 2, ram: 4096, disk: 0, extra_specs: {} },
    ],
  },
  '/image/v2/images': {
    images: [
      {
        ...{ id: '0c6d7b38-0b52-4cc8-9b32-6e3ab03c6f0e', name: 'Debian 12', visibility: 'public', status: 'active' },
        ...{ os_distro: 'debian', os_version: '12', tags: [], created_at: '2026-01-01T00:00:00Z' },
      },
    ],
  },
  '/volume/v3/p/types': { volume_types: [{ name: 'Standard' }, { name: 'ssd_hiiops' }] },
  '/volume/v3/p/types/default': { volume_type: { name: 'Standard' } },
  '/network/v2.0/networks': { networks: [{ id: EXTERNAL, name: 'public' }] },
  '/network/v2.0/subnets': {
    subnets: [
      {
        ...{ network_id: EXTERNAL, cidr: '203.0.113.0/24', gateway_ip: '203.0.113.1' },
        allocation_pools: [{ start: '203.0.113.100', end: '203.0.113.199' }],
      },
    ],
  },
  '/compute/v2.1/servers': { servers: [] },
  '/volume/v3/p/volumes': { volumes: [] },
  '/balancing/': { versions: [{ id: 'v2.26', status: 'CURRENT' }] },
  '/balancing/v2/lbaas/flavors': {
    flavors: [
      { id: 'small', name: 'LB1-1-2', enabled: true },
      { id: 'large', name: 'LB1-2-4', enabled: false },
    ],
  },
  '/keys/': { versions: { values: [{ id: 'v1', status: 'stable' }] } },
};

/** Services that not every cloud has. */
const OPTIONAL = { 'key-manager': '/keys', 'load-balancer': '/balancing' };

export interface TestCloud {
  /** The text of its clouds.yaml, with the one cloud `double`. */
  clouds: string;
  /** What was made and removed, such as `POST /network/v2.0/ports`. */
  changes: string[];
  /** Which services it has that not every cloud has. */
  optional: (keyof typeof OPTIONAL)[];
  /** By path: what it answers instead. */
  answers: Record<string, object | undefined>;
  /** By method and path: refuses it with this status. */
  refusals: Record<string, { status: number; body: object }>;
  stop(): void;
}

/** Starts what answers like a cloud, as far as an operator's look at it goes. Everything else is unavailable. */
export async function startCloud(): Promise<TestCloud> {
  const changes: string[] = [];
  const answers: TestCloud['answers'] = { ...ANSWERS };
  const refusals: TestCloud['refusals'] = {};
  const optional: TestCloud['optional'] = [];
  function answerTo(method: string, { pathname, searchParams }: URL): { status: number; body?: object } {
    const asked = `${method} ${pathname}`;
    if (asked === 'POST /identity/v3/auth/tokens') return { status: 201, body: tokenOf(url, optional) };
    const refusal = refusals[asked];
    if (refusal) return refusal;
    // Ours have marks; nobody needs them here.
    if (searchParams.has('description') || searchParams.has('project_id')) return { status: 503 };
    if (method === 'GET' && pathname in answers) {
      const body = answers[pathname];
      return body ? { status: pathname.endsWith('/') ? 300 : 200, body } : { status: 404 };
    }
    return thingAt(method, pathname);
  }

  /** Makes, shows and removes what a check of rights does. */
  function thingAt(method: string, pathname: string) {
    const [, kind] = /\/(network|port|volume)s(\/made)?$/.exec(pathname) ?? [];
    if (kind === undefined) return { status: 503 };
    const body = { [kind]: { id: 'made', status: 'available' } };
    if (method === 'GET') return { status: 200, body };
    changes.push(`${method} ${pathname}`);
    return method === 'POST' ? { status: 201, body } : { status: 204 };
  }

  const server = http.createServer((request, response) => {
    request.resume();
    const { status, body } = answerTo(request.method ?? '', new URL(request.url ?? '', url));
    response.writeHead(status, { 'x-subject-token': 'token' }).end(body && JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const auth = { auth_url: `${url}/identity`, username: 'tester', password: 'secret', project_name: 'tests' };
  return {
    clouds: stringify({ clouds: { double: { auth } } }),
    changes,
    optional,
    answers,
    refusals,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function tokenOf(url: string, optional: TestCloud['optional']) {
  const at = (type: string, path: string) => ({
    type,
    endpoints: [{ interface: 'public', region_id: 'RegionOne', url: `${url}${path}` }],
  });
  return {
    token: {
      ...{ issued_at: '2026-01-01T00:00:00Z', expires_at: '2026-01-01T12:00:00Z' },
      user: { id: 'u' },
      project: { id: 'p', name: 'tests' },
      catalog: [
        at('compute', '/compute/v2.1'),
        at('network', '/network'),
        at('volumev3', '/volume/v3/p'),
        at('image', '/image'),
        ...optional.map((type) => at(type, OPTIONAL[type])),
      ],
    },
  };
}
