import { describe, expect, test } from 'vitest';
import { PROTOCOL_NAMES } from '../../../../lib/ip-addresses.ts';
import { type CanonicalRule, canonicalRule, type RuleInput } from './rule.ts';

const GROUP = '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a';

const cases: [given: Partial<RuleInput>, canonical: Partial<CanonicalRule>][] = [
  [{}, { ethertype: 'IPv4', protocol: null, remote_ip_prefix: null, remote_group_id: null, description: '' }],
  [
    { ethertype: null, description: null, protocol: null },
    { ethertype: 'IPv4', protocol: null, description: '' },
  ],
  [{ protocol: 'any' }, { protocol: null }],
  [{ protocol: 'TCP' }, { protocol: 'tcp' }],
  [{ protocol: '6' }, { protocol: 'tcp' }],
  [{ protocol: '200' }, { protocol: '200' }],
  [{ protocol: 'icmp' }, { protocol: 'icmp' }],
  [
    { protocol: 'icmp', ethertype: 'IPv6' },
    { protocol: 'ipv6-icmp', ethertype: 'IPv6' },
  ],
  [{ protocol: '1', ethertype: 'IPv6' }, { protocol: 'ipv6-icmp' }],
  [{ protocol: 'icmpv6', ethertype: 'IPv6' }, { protocol: 'ipv6-icmp' }],
  [{ protocol: '58', ethertype: 'IPv6' }, { protocol: 'ipv6-icmp' }],
  [
    { protocol: 'tcp', port_range_min: 1, port_range_max: 65535 },
    { port_range_min: null, port_range_max: null },
  ],
  [
    { protocol: 'tcp', port_range_min: 2, port_range_max: 65535 },
    { port_range_min: 2, port_range_max: 65535 },
  ],
  [
    { port_range_min: 1, port_range_max: 65535 },
    { port_range_min: null, port_range_max: null },
  ],
  [
    { protocol: 'tcp', port_range_min: 1, port_range_max: 65534 },
    { port_range_min: 1, port_range_max: 65534 },
  ],
  [
    { protocol: 'icmp', port_range_min: 0, port_range_max: 0 },
    { port_range_min: 0, port_range_max: 0 },
  ],
  [{ remote_ip_prefix: '10.0.0.1' }, { remote_ip_prefix: '10.0.0.1/32' }],
  [{ remote_ip_prefix: '10.0.0.1/24' }, { remote_ip_prefix: '10.0.0.1/24' }],
  [{ remote_ip_prefix: '0.0.0.0/0' }, { remote_ip_prefix: '0.0.0.0/0' }],
  [{ remote_ip_prefix: '2001:DB8:0::1', ethertype: 'IPv6' }, { remote_ip_prefix: '2001:db8::1/128' }],
  [{ remote_ip_prefix: 'nonsense' }, { remote_ip_prefix: 'nonsense' }],
  [{ remote_group_id: GROUP.toUpperCase() }, { remote_group_id: GROUP }],
];

describe('canonicalRule', () => {
  test.each(cases)('%j becomes %j', (given, canonical) => {
    expect(canonicalRule({ direction: 'ingress', ...given })).toMatchObject(canonical);
  });

  test.each(cases)('is idempotent for %j', (given) => {
    const once = canonicalRule({ direction: 'ingress', ...given });
    expect(canonicalRule(once)).toEqual(once);
  });

  test('is idempotent for every protocol, family and range', () => {
    for (const protocol of [null, 'any', 'icmpv6', ...PROTOCOL_NAMES]) {
      for (const ethertype of ['IPv4', 'IPv6'] as const) {
        for (const [port_range_min, port_range_max] of [
          [null, null],
          [1, 65535],
          [0, 0],
          [8, null],
        ] as const) {
          const once = canonicalRule({
            direction: 'egress',
            protocol,
            ethertype,
            port_range_min,
            port_range_max,
          });
          expect(canonicalRule(once)).toEqual(once);
        }
      }
    }
  });
});
