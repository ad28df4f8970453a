import { Type } from 'typebox';
import { expect, it, vi } from 'vitest';
import type { Api } from '../../openstack/cloud/client.ts';
import { tasksIn } from '../support/possessions.ts';
import { tlsBundle } from '../support/tls-bundles.ts';
import { sendHeartbeat } from './heartbeats.ts';
import type { ServedRegion } from './region.ts';
import type { Rig } from './rig.ts';

const BALANCERS = '/cloud/v1/loadbalancers/1/1';
const LISTENERS = '/cloud/v2/lblisteners/1/1';
const POOLS = '/cloud/v2/lbpools/1/1';
const POLICIES = '/cloud/v1/l7policies/1/1';
const SECRETS = '/cloud/v1/secrets/1/1';
/** A busy machine may take longer than the half minute that others need to notice. */
const NOTICED = { timeout: 180_000, interval: 500 };
const WITHIN_MS = 600_000;

const Part = Type.Object({ id: Type.String(), name: Type.String() });
const Rule = Type.Object({ id: Type.String() });
type Known = Record<string, unknown> & { id: string; name: string };

/** Describes a load balancer with a part of each kind in the cloud, from its creation to its removal. */
export function describeBalancing(rig: () => Rig, regionOf: () => ServedRegion): void {
  it('load balancers are in Octavia as they are wanted, whoever changes them', async () => {
    const { http, project } = regionOf();
    const { api } = project;
    const done = async (answer: { status: number; text: string; body: unknown }) => {
      expect(answer.status, answer.text).toBe(200);
      const task = await http.task(tasksIn(answer.body)[0] ?? '', WITHIN_MS);
      expect(task, task.error).toMatchObject({ state: 'FINISHED', error: null });
      return task.created_resources ?? {};
    };
    const certificate = async (name: string) => {
      const body = { name, payload: await tlsBundle() };
      return (await done(await http.post('/cloud/v2/secrets/1/1', body))).secrets?.[0] ?? '';
    };
    const [first, second] = [await certificate('first'), await certificate('second')];
    const { networks = [] } = await done(await http.post('/cloud/v1/networks/1/1', { name: 'shop' }));
    const subnet = { name: 'shop', network_id: networks[0], cidr: '10.7.0.0/24', enable_dhcp: true };
    const { subnets = [] } = await done(await http.post('/cloud/v1/subnets/1/1', subnet));
    const member = (address: string) => ({ address, protocol_port: 8080, subnet_id: subnets[0] });
    const created = await done(
      await http.post(BALANCERS, {
        name: 'shop',
        vip_network_id: networks[0],
        vip_subnet_id: subnets[0],
        listeners: [
          {
            ...{ name: 'web', protocol: 'HTTP', protocol_port: 80, insert_x_forwarded: true },
            ...{ allowed_cidrs: ['198.51.100.0/24', '10.0.0.0/8'], timeout_client_data: 40_000 },
            pools: [
              {
                ...{ name: 'servers', protocol: 'HTTP', lb_algorithm: 'LEAST_CONNECTIONS' },
                session_persistence: { type: 'APP_COOKIE', cookie_name: 'cart' },
                healthmonitor: { type: 'HTTP', delay: 10, timeout: 5, max_retries: 2, url_path: '/healthz' },
                members: [member('10.7.0.30'), { ...member('10.7.0.31'), backup: true, weight: 3 }],
              },
            ],
          },
          {
            ...{ name: 'safe', protocol: 'TERMINATED_HTTPS', protocol_port: 443 },
            ...{ secret_id: first, sni_secret_id: [second] },
          },
        ],
      }),
    );
    const [balancerId = ''] = created.loadbalancers ?? [];
    const [webId = ''] = created.listeners ?? [];
    const [poolId = ''] = created.pools ?? [];
    const tags = `tradewind-load_balancer-${balancerId}`;
    const there = async (many: string) => (await api.list('load-balancer', `/${many}`, Part, { tags })) as Known[];
    const named = async (many: string, name: string) => (await there(many)).find((one) => one.name === name) as Known;
    const pool = await named('pools', 'servers');
    const [monitor] = await there('healthmonitors');
    expect(pool).toMatchObject({
      ...{ protocol: 'HTTP', lb_algorithm: 'LEAST_CONNECTIONS', healthmonitor_id: monitor?.id },
      session_persistence: { type: 'APP_COOKIE', cookie_name: 'cart' },
    });
    expect(await named('listeners', 'web')).toMatchObject({
      ...{ protocol: 'HTTP', protocol_port: 80, default_pool_id: pool.id, timeout_client_data: 40_000 },
      insert_headers: { 'X-Forwarded-For': 'true', 'X-Forwarded-Port': 'true', 'X-Forwarded-Proto': 'true' },
      allowed_cidrs: expect.arrayContaining(['198.51.100.0/24', '10.0.0.0/8']),
    });
    const safe = await named('listeners', 'safe');
    expect(safe).toMatchObject({
      default_pool_id: null,
      sni_container_refs: [expect.stringContaining('/containers/')],
    });
    expect(safe.default_tls_container_ref).toMatch(/\/v1\/containers\/[0-9a-f-]{36}$/);

    const policy = (name: string, more: object) => http.post(POLICIES, { name, listener_id: webId, ...more });
    await done(await policy('closed', { action: 'REJECT', position: 1 }));
    const moved = { action: 'REDIRECT_TO_URL', redirect_url: 'https://shop.example.com/', position: 1 };
    const { l7polices: policyIds = [] } = await done(await policy('moved', moved));
    const rule = { type: 'PATH', compare_type: 'STARTS_WITH', value: '/old', invert: false };
    await done(await http.post(`${POLICIES}/${policyIds[0]}/rules`, rule));
    await expectPolicies(['moved', 'closed']);
    await done(await http.patch(`${LISTENERS}/${webId}`, { timeout_client_data: null, allowed_cidrs: null }));
    expect(await named('listeners', 'web')).toMatchObject({ timeout_client_data: 50_000, allowed_cidrs: null });
    await done(await http.patch(`${POOLS}/${poolId}`, { lb_algorithm: 'SOURCE_IP', session_persistence: null }));
    expect(await named('pools', 'servers')).toMatchObject({ lb_algorithm: 'SOURCE_IP', session_persistence: null });

    async function expectPolicies(names: string[]): Promise<void> {
      const found = (await there('l7policies')).toSorted((one, other) => Number(one.position) - Number(other.position));
      expect(found.map(({ name }) => name)).toEqual(names);
      const rules = await api.list('load-balancer', `/l7policies/${found[0]?.id}/rules`, Rule);
      expect(rules).toEqual([expect.objectContaining({ type: 'PATH', value: '/old', key: null })]);
    }

    // Somebody else changes what is ours, and adds a member.
    const [one] = await api.list('load-balancer', `/pools/${pool.id}/members`, Rule);
    await change(api, 'DELETE', `/pools/${pool.id}/members/${one?.id}`);
    const foreign = { address: '10.7.0.99', protocol_port: 8080 };
    await change(api, 'POST', `/pools/${pool.id}/members`, { member: foreign });
    await change(api, 'PUT', `/listeners/${safe.id}`, { listener: { name: 'unsafe', connection_limit: 1 } });
    await vi.waitFor(async () => {
      const members = (await api.list('load-balancer', `/pools/${pool.id}/members`, Part)) as Known[];
      expect(new Set(members.map(({ address }) => address))).toEqual(new Set(['10.7.0.30', '10.7.0.31']));
      expect(await named('listeners', 'safe')).toMatchObject({ connection_limit: 100_000 });
    }, NOTICED);

    // One member fails, and then works again.
    const [balancer] = await there('loadbalancers');
    const members = (await api.list('load-balancer', `/pools/${pool.id}/members`, Part)) as Known[];
    const failing = members.find(({ address }) => address === '10.7.0.30');
    const health = async () => {
      const { body } = await http.get(`/cloud/v1/lbpools/1/1/${poolId}`);
      return body.members.map((each: { operating_status: string }) => each.operating_status).toSorted();
    };
    for (const [status, expected] of [
      ['ERROR', ['ERROR', 'ONLINE']],
      ['ONLINE', ['ONLINE', 'ONLINE']],
    ] as const) {
      await sendHeartbeat(rig(), balancer?.id ?? '', { [failing?.id ?? '']: status });
      await vi.waitFor(async () => expect(await health()).toEqual(expected), NOTICED);
    }

    // A second one has addresses of both families.
    const six = { name: 'shop6', network_id: networks[0], cidr: 'fd07::/64', enable_dhcp: true };
    await done(await http.post('/cloud/v1/subnets/1/1', six));
    const dual = { name: 'both', vip_network_id: networks[0], vip_ip_family: 'dual' };
    const [dualId = ''] = (await done(await http.post(BALANCERS, dual))).loadbalancers ?? [];
    const both = await api.list('load-balancer', '/loadbalancers', Part, { name: 'both' });
    expect(both).toEqual([expect.objectContaining({ additional_vips: [expect.anything()] })]);
    await done(await http.delete(`${BALANCERS}/${dualId}`));

    await done(await http.delete(`${BALANCERS}/${balancerId}`));
    expect(await there('loadbalancers')).toEqual([]);
    for (const secret of [first, second]) await done(await http.delete(`${SECRETS}/${secret}`));
    for (const kind of ['containers', 'secrets']) expect(await kept(api, kind, [first, second])).toEqual([]);
    await done(await http.delete(`/cloud/v1/networks/1/1/${networks[0]}`));
  });
}

/** Changes a part as soon as nothing else goes on with its load balancer. */
const change = (api: Api, method: 'DELETE' | 'POST' | 'PUT', path: string, body?: object): Promise<unknown> =>
  vi.waitFor(() => api.send('load-balancer', method, path, body), NOTICED);

const Kept = Type.Object({ name: Type.Union([Type.String(), Type.Null()]) });
const kept = async (api: Api, kind: string, ids: readonly string[]) =>
  (await api.list('key-manager', `/${kind}`, Kept)).filter(({ name }) => ids.some((id) => name?.includes(id)));
