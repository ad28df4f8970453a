import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Answer, HttpClient } from '../../support/http-client.ts';
import { clusterBody, tasksIn } from '../../support/possessions.ts';

/** Makes what operations need, in a separate project and without faults. */
export function createMakers(http: HttpClient, projectId: number) {
  const at = `/${projectId}/1`;
  let count = 0;
  const name = () => `thing-${++count}`;

  async function made(path: string, body: object): Promise<Record<string, string[]>> {
    let answer = await http.post(path, body);
    // All are prepared at once, which is more than a busy machine may take.
    for (let tries = 0; answer.status === 503 && tries < 10; tries++) {
      await sleep(1_000);
      answer = await http.post(path, body);
    }
    const [task = ''] = tasksIn(answer.body);
    expect(answer.status, answer.text).toBe(200);
    const { state, error, created_resources } = await ended(http, task);
    expect([state, error]).toEqual(['FINISHED', null]);
    return created_resources;
  }
  const only = (ids: string[] | undefined): string => ids?.[0] ?? 'missing';
  const first = async (path: string): Promise<string> => {
    const answer = await http.get(path);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.results[0].id;
  };

  const make = {
    volume: async () =>
      only((await made(`/cloud/v1/volumes${at}`, { source: 'new-volume', name: name(), size: 1 })).volumes),
    bootVolume: async () => {
      const body = {
        source: 'image',
        image_id: await first(`/cloud/v1/images${at}`),
        name: name(),
        size: 10,
      };
      return only((await made(`/cloud/v1/volumes${at}`, body)).volumes);
    },
    snapshot: async (volume_id: string) =>
      only((await made(`/cloud/v1/snapshots${at}`, { name: name(), volume_id })).snapshots),
    image: async (volume_id: string) => only((await made(`/cloud/v1/images${at}`, { name: name(), volume_id })).images),
    network: async () => only((await made(`/cloud/v1/networks${at}`, { name: name(), create_router: false })).networks),
    subnet: async (network_id: string) =>
      only((await made(`/cloud/v1/subnets${at}`, { name: name(), network_id, cidr: '10.10.0.0/24' })).subnets),
    /** Makes a router that leads out, attached to the subnet if there is one. */
    router: async (subnet_id?: string) => {
      const interfaces = subnet_id === undefined ? [] : [{ subnet_id }];
      const body = { name: name(), external_gateway_info: {}, interfaces };
      return only((await made(`/cloud/v1/routers${at}`, body)).routers);
    },
    group: async (): Promise<string> => {
      const answer = await http.post(`/cloud/v1/securitygroups${at}`, { security_group: { name: name() } });
      expect([200, 201], answer.text).toContain(answer.status);
      return answer.body.id;
    },
    reserved: async (wish: object = { type: 'external' }) =>
      only((await made(`/cloud/v1/reserved_fixed_ips${at}`, wish)).ports),
    floating: async (wish: object = {}) => only((await made(`/cloud/v1/floatingips${at}`, wish)).floatingips),
    /** Makes a load balancer with a listener, and its pool with a member. */
    balancer: async (wish: object = {}) => {
      const pool = {
        name: name(),
        protocol: 'HTTP',
        lb_algorithm: 'ROUND_ROBIN',
        healthmonitor: { type: 'TCP', delay: 10, timeout: 5, max_retries: 2 },
        members: [{ address: '10.9.0.1', protocol_port: 80 }],
      };
      const listeners = [{ name: name(), protocol: 'HTTP', protocol_port: 80, pools: [pool] }];
      const all = await made(`/cloud/v1/loadbalancers${at}`, { name: name(), listeners, ...wish });
      return {
        id: only(all.loadbalancers),
        listener: only(all.listeners),
        pool: only(all.pools),
        member: only(all.members),
      };
    },
    policy: async (listener_id: string) =>
      only((await made(`/cloud/v1/l7policies${at}`, { listener_id, action: 'REJECT' })).l7polices),
    placement: async (): Promise<string> => {
      const body = { name: name(), policy: 'anti-affinity' };
      const answer = await http.post(`/cloud/v1/servergroups${at}`, body);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.servergroup_id;
    },
    secret: async () => only((await made(`/cloud/v1/secrets${at}`, storedSecret(name()))).secrets),
    share: async () => only((await made(`/cloud/v1/file_shares${at}`, vastShare(name()))).file_shares),
    /** Makes a machine with its port and its boot volume. */
    instance: async (wish: object = {}) => {
      const all = await made(`/cloud/v2/instances${at}`, await instanceBody(wish));
      return { id: only(all.instances), port: only(all.ports), volume: only(all.volumes) };
    },
    /** Makes a machine with a public address. */
    publicAddress: async (): Promise<string> => {
      const { id } = await make.instance({ interfaces: [{ type: 'external' }] });
      const { body } = await http.get(`/cloud/v1/instances${at}/${id}`);
      return body.fixed_ip_assignments[0].ip_address;
    },
    profile: async (bodyOf: (address: string) => object) => {
      const address = await make.publicAddress();
      const id = only((await made(`/cloud/v1/ddos/profiles${at}`, bodyOf(address))).ddos_profiles);
      return { id, address };
    },
    cluster: async (): Promise<string> => {
      const body = await newCluster();
      await made(`/cloud/v1/k8s/clusters${at}`, body);
      return body.name;
    },
  };

  async function instanceBody(wish: object = {}) {
    return {
      name: name(),
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'any_subnet', network_id: await first(`/cloud/v1/networks${at}?name=default`) }],
      volumes: [{ source: 'image', image_id: await first(`/cloud/v1/images${at}`), size: 20 }],
      ...wish,
    };
  }
  async function newCluster() {
    const key = await http.post(`/cloud/v1/ssh_keys/${projectId}`, { name: name() });
    return { ...(await clusterBody({ ...http, post: async () => key })), name: name() };
  }

  const on = (family: string, version = 'v1') => `/cloud/${version}/${family}${at}`;
  return { http, at, name, make, instanceBody, newCluster, on, act };

  /** Sends a request that must be accepted, and waits for its tasks. */
  async function act(path: string, body: object): Promise<void> {
    const answer = await http.post(path, body);
    for (const task of tasksIn(answer.body)) expect(await ended(http, task)).toMatchObject({ state: 'FINISHED' });
    expect(answer.status, answer.text).toBe(200);
  }
}
export type Makers = ReturnType<typeof createMakers>;

/**
 * Returns the task once it has ended. The request waits instead of polling, since there are hundreds at a
 * time.
 */
export async function ended(http: HttpClient, id: string): Promise<Answer['body']> {
  let body: Answer['body'];
  for (let count = 0; count < 36; count++) {
    ({ body } = await http.request('GET', `/v1/tasks/${id}`, { headers: { prefer: 'wait=5' } }));
    if (['FINISHED', 'ERROR'].includes(body.state)) return body;
  }
  throw new Error(`Task ${id} does not end: ${JSON.stringify(body)}`);
}

/** Runs an operation whose requirements exist. */
export type Prepared = () => Promise<Answer>;

export const vastShare = (name: string) => ({
  name,
  protocol: 'NFS',
  size: 10,
  type_name: 'vast',
  share_settings: { root_squash: false, path_length: 'NPL', allowed_characters: 'NPL' },
});

export const storedSecret = (name: string) => ({
  name,
  secret_type: 'symmetric',
  payload: 'aGVsbG8sIHRlc3Qgc3RyaW5nCg==',
  payload_content_encoding: 'base64',
  payload_content_type: 'application/octet-stream',
});
