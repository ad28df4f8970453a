import { expect, it } from 'vitest';
import type { ListenerSpec, LoadBalancerSpec, MonitorSpec, PoolSpec } from '../../src/backends/contract/specs.ts';
import { newSamples } from '../../test/backends/samples.ts';
import { problemsOf } from './problems.ts';

const { spec } = newSamples().load_balancer;
const [[poolId, pool]] = Object.entries(spec.pools) as [[string, PoolSpec]];
const [listener] = Object.values(spec.listeners) as [ListenerSpec];
const MONITOR: MonitorSpec = { type: 'HTTP', enabled: true, delay: 2, timeout: 1, retries: 1, retriesDown: 1 };
const action = (kind: 'redirect_prefix' | 'redirect_to_url', target: string) => ({ kind, target, httpCode: 302 });

const withPool = (more: Partial<PoolSpec>): LoadBalancerSpec => ({
  ...spec,
  pools: { [poolId]: { ...pool, ...more } },
});
const withHttp = (http: MonitorSpec['http'] = {}) => withPool({ monitor: { ...MONITOR, http } });
const withListener = (more: Partial<ListenerSpec>, of = spec): LoadBalancerSpec => ({
  ...of,
  listeners: { l: { ...listener, ...more } },
});
const withTarget = (kind: 'redirect_prefix' | 'redirect_to_url', target: string) =>
  withListener({ policies: { p: { name: '', position: 1, action: action(kind, target), rules: {} } } });
const SECURE = { protocol: 'TERMINATED_HTTPS' } as const;

it.each<[string, LoadBalancerSpec, string | undefined]>([
  ['an ordinary load balancer', spec, undefined],
  ['logs', { ...spec, logging: { destinationRegionId: 1, topic: 't' } }, 'logging'],
  ['users of a listener', withListener({ users: { u: 'hash' } }), 'user_list'],
  ['TLS at the listener and at the pool', withListener(SECURE, withPool({ protocol: 'HTTPS' })), 'protocol'],
  ['TLS at the listener', withListener(SECURE), undefined],
  ['a redirection', withTarget('redirect_to_url', 'https://shop.example.com/a?b'), undefined],
  ['a redirection to an address with a space', withTarget('redirect_to_url', 'https://a.example/b c'), 'redirect_url'],
  ['a redirection to a path', withTarget('redirect_prefix', '/api'), 'redirect_prefix'],
  ['a monitor of Kubernetes', withPool({ monitor: { ...MONITOR, type: 'K8S' } }), 'type'],
  ['a quick monitor of UDP', withPool({ monitor: { ...MONITOR, type: 'UDP-CONNECT' } }), 'delay'],
  ['a list of codes', withHttp({ codes: '200, 202' }), undefined],
  ['a range of codes', withHttp({ codes: '200-204' }), undefined],
  ['a list with a range', withHttp({ codes: '200,300-302' }), 'expected_codes'],
  ['a name of a host', withHttp({ domain: 'www.shop-1.example.' }), undefined],
  ['a name that begins with an underscore', withHttp({ domain: '_dmarc.example.com' }), undefined],
  ['a name with another underscore', withHttp({ domain: 'example.a_b' }), 'domain_name'],
  ['a name with an empty part', withHttp({ domain: 'a..b' }), 'domain_name'],
  ['a name that begins with a hyphen', withHttp({ domain: '-a.b' }), 'domain_name'],
  ['a cookie of the application', withPool({ persistence: { type: 'APP_COOKIE', cookieName: 'cart' } }), undefined],
  ['a cookie with a space', withPool({ persistence: { type: 'APP_COOKIE', cookieName: 'a b' } }), 'cookie_name'],
  ['the name of another cookie', withPool({ persistence: { type: 'HTTP_COOKIE', cookieName: 'a' } }), 'cookie_name'],
])('%s', (_, wanted, field) => {
  expect(problemsOf(wanted).map((one) => one.field)).toEqual(field === undefined ? [] : [field]);
});
