import { describe, expect, it } from 'vitest';
import type { Cilium, Cni } from '../../../../db/json-columns.ts';
import { cniProblems } from './cni.ts';
import { CILIUM_DEFAULTS, DEFAULT_CONFIGURATION } from './configuration.ts';
import { mergeConfiguration } from './merge.ts';
import type { CniInput } from './schema.ts';

const CALICO: Cni = { provider: 'calico', cilium: null };
const cilium = (change: Partial<Cilium> = {}): Cni => ({
  provider: 'cilium',
  cilium: { ...CILIUM_DEFAULTS, ...change },
});

function wantedOf(given: CniInput, current: Cni): Cni {
  const { cni } = mergeConfiguration({ ...DEFAULT_CONFIGURATION, cni: current }, { cni: given }, 'c1');
  return cni ?? CALICO;
}
const onUpdate = (given: CniInput, current: Cni) => cniProblems(given, wantedOf(given, current), { current });
const onCreation = (given: CniInput, pools: { podsIpPool?: string | null; podsIpv6Pool?: string | null } = {}) =>
  cniProblems(given, wantedOf(given, CALICO), { current: undefined, ...pools });

describe('an update accepts', () => {
  it.each<[string, CniInput, Cni]>([
    ['the same provider', { provider: 'calico' }, CALICO],
    ['calico with cilium null', { provider: 'calico', cilium: null }, CALICO],
    ['tuning without the provider', { cilium: { encryption: true } }, cilium()],
    ['UI with Relay', { cilium: { hubble_ui: true, hubble_relay: true } }, cilium()],
    ['UI when Relay is there', { cilium: { hubble_ui: true } }, cilium({ hubble_relay: true })],
    [
      'both off',
      { cilium: { hubble_ui: false, hubble_relay: false } },
      cilium({ hubble_relay: true, hubble_ui: true }),
    ],
    ['DSR with Geneve', { cilium: { lb_mode: 'dsr' } }, cilium()],
    ['hybrid with native routing', { cilium: { lb_mode: 'hybrid', tunnel: '' } }, cilium({ tunnel: 'vxlan' })],
    ['VXLAN with SNAT', { cilium: { tunnel: 'vxlan' } }, cilium()],
    ['native routing by tunnel', { cilium: { tunnel: '' } }, cilium()],
    ['native routing by both', { cilium: { tunnel: '', routing_mode: 'native' } }, cilium()],
    ['native routing with Geneve for DSR', { cilium: { tunnel: 'geneve', routing_mode: 'native' } }, cilium()],
    [
      'DSR with native routing, whatever the tunnel',
      { cilium: { routing_mode: 'native', tunnel: 'vxlan', lb_mode: 'dsr' } },
      cilium(),
    ],
    ['the same masks', { cilium: { mask_size: 24, mask_size_v6: 120 } }, cilium()],
    ['masks kept by null', { cilium: null }, cilium({ mask_size: 25 })],
  ])('%s', (_, given, current) => {
    expect(onUpdate(given, current)).toEqual([]);
  });
});

describe('an update refuses', () => {
  it.each<[string, CniInput, Cni, string, RegExp]>([
    ['another provider', { provider: 'cilium' }, CALICO, 'cni.provider', /after creation/],
    ['calico for cilium', { provider: 'calico' }, cilium(), 'cni.provider', /after creation/],
    [
      'cilium settings on calico',
      { cilium: { encryption: true } },
      CALICO,
      'cni.cilium',
      /only allowed with provider cilium/,
    ],
    ['an empty cilium object on calico', { cilium: {} }, CALICO, 'cni.cilium', /only allowed with provider cilium/],
    ['UI without Relay', { cilium: { hubble_ui: true } }, cilium(), 'cni.cilium.hubble_ui', /hubble_relay/],
    [
      'UI with Relay off',
      { cilium: { hubble_ui: true, hubble_relay: false } },
      cilium(),
      'cni.cilium.hubble_ui',
      /hubble_relay/,
    ],
    [
      'Relay off under the UI',
      { cilium: { hubble_relay: false } },
      cilium({ hubble_relay: true, hubble_ui: true }),
      'cni.cilium.hubble_relay',
      /hubble_ui/,
    ],
    ['DSR on VXLAN', { cilium: { lb_mode: 'dsr' } }, cilium({ tunnel: 'vxlan' }), 'cni.cilium.lb_mode', /vxlan/],
    [
      'VXLAN under hybrid',
      { cilium: { tunnel: 'vxlan' } },
      cilium({ lb_mode: 'hybrid' }),
      'cni.cilium.tunnel',
      /hybrid/,
    ],
    [
      'an empty tunnel to tunnel with',
      { cilium: { tunnel: '', routing_mode: 'tunnel' } },
      cilium(),
      'cni.cilium.tunnel',
      /native/,
    ],
    ['another mask', { cilium: { mask_size: 25 } }, cilium(), 'cni.cilium.mask_size', /after creation/],
    ['another IPv6 mask', { cilium: { mask_size_v6: 112 } }, cilium(), 'cni.cilium.mask_size_v6', /after creation/],
  ])('%s', (_, given, current, field, message) => {
    expect(onUpdate(given, current)).toEqual([{ field, message: expect.stringMatching(message) }]);
  });
});

describe('at creation', () => {
  it.each<[string, CniInput, { podsIpPool?: string | null; podsIpv6Pool?: string | null }]>([
    ['either provider', { provider: 'cilium' }, {}],
    [
      'a mask that fits the pods range',
      { provider: 'cilium', cilium: { mask_size: 26 } },
      { podsIpPool: '172.16.0.0/17' },
    ],
    ['many IPv4 ranges', { provider: 'cilium', cilium: { mask_size: 28 } }, { podsIpPool: '10.0.0.0/8' }],
    ['an IPv6 range within reach', { provider: 'cilium' }, { podsIpv6Pool: 'fd00::/104' }],
    [
      'one node for the whole range',
      { provider: 'cilium', cilium: { mask_size: 18, mask_size_v6: 112 } },
      { podsIpPool: '172.16.0.0/18', podsIpv6Pool: 'fd00::/112' },
    ],
    ['no ranges at all', { provider: 'cilium' }, { podsIpPool: null, podsIpv6Pool: null }],
  ])('accepts %s', (_, given, pools) => {
    expect(onCreation(given, pools)).toEqual([]);
  });

  it.each<[string, CniInput, { podsIpPool?: string; podsIpv6Pool?: string }, string, RegExp]>([
    ['cilium settings without the provider', { cilium: {} }, {}, 'cni.cilium', /only allowed with provider cilium/],
    [
      'UI without Relay',
      { provider: 'cilium', cilium: { hubble_ui: true } },
      {},
      'cni.cilium.hubble_ui',
      /hubble_relay/,
    ],
    [
      'a mask wider than the pods range',
      { provider: 'cilium', cilium: { mask_size: 16 } },
      { podsIpPool: '172.16.0.0/18' },
      'cni.cilium.mask_size',
      /at least 18/,
    ],
    [
      'an IPv6 mask wider than the pods range',
      { provider: 'cilium' },
      { podsIpv6Pool: 'fd00::/121' },
      'cni.cilium.mask_size_v6',
      /at least 121/,
    ],
    [
      'one bit more than IPv6 ranges may have',
      { provider: 'cilium' },
      { podsIpv6Pool: 'fd00::/103' },
      'cni.cilium.mask_size_v6',
      /at most 119/,
    ],
    [
      'too many IPv6 ranges',
      { provider: 'cilium' },
      { podsIpv6Pool: 'fd00::/64' },
      'cni.cilium.mask_size_v6',
      /at most 80/,
    ],
  ])('refuses %s', (_, given, pools, field, message) => {
    expect(onCreation(given, pools)).toEqual([{ field, message: expect.stringMatching(message) }]);
  });
});
