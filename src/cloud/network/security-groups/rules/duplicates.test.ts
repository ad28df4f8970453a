import { describe, expect, test } from 'vitest';
import { ConflictError } from '../../../../lib/errors.ts';
import { PROTOCOL_NAMES } from '../../../../lib/ip-addresses.ts';
import { canonicalRule, duplicateKey, findDuplicates, type RuleInput, refuseDuplicates } from './rule.ts';

const GROUP = '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a';

function rule(given: Partial<RuleInput>) {
  return canonicalRule({ direction: 'ingress', ...given });
}

describe('duplicateKey', () => {
  test.each<[Partial<RuleInput>, Partial<RuleInput>]>([
    [{ description: 'a' }, { description: 'b' }],
    [{ remote_ip_prefix: '0.0.0.0/0' }, {}],
    [
      { remote_ip_prefix: '0:0::/0', ethertype: 'IPv6' },
      { remote_ip_prefix: null, ethertype: 'IPv6' },
    ],
    [{ protocol: 'tcp' }, { protocol: '6' }],
    [{ protocol: 'any' }, { protocol: null }],
    [
      { protocol: 'icmp', ethertype: 'IPv6' },
      { protocol: 'ipv6-icmp', ethertype: 'IPv6' },
    ],
    [{ protocol: 'udp', port_range_min: 1, port_range_max: 65535 }, { protocol: 'udp' }],
    [{ remote_ip_prefix: '10.0.0.1' }, { remote_ip_prefix: '10.0.0.1/32' }],
    [{ remote_group_id: GROUP }, { remote_group_id: GROUP.toUpperCase() }],
  ])('%j is %j', (one, other) => {
    expect(duplicateKey(rule(one))).toBe(duplicateKey(rule(other)));
  });

  test.each<[Partial<RuleInput>, Partial<RuleInput>]>([
    [{ direction: 'egress' }, {}],
    [{ ethertype: 'IPv6' }, {}],
    [{ protocol: 'tcp' }, { protocol: 'udp' }],
    [{ remote_ip_prefix: '10.0.0.1/24' }, { remote_ip_prefix: '10.0.0.0/24' }],
    [{ remote_group_id: GROUP }, {}],
    [
      { protocol: 'tcp', port_range_min: 22, port_range_max: 22 },
      { protocol: 'tcp', port_range_min: 22, port_range_max: 23 },
    ],
    [
      { protocol: 'tcp', port_range_min: 21, port_range_max: 23 },
      { protocol: 'tcp', port_range_min: 22, port_range_max: 23 },
    ],
    [
      { protocol: 'icmp', port_range_min: 8 },
      { protocol: 'icmp', port_range_min: 8, port_range_max: 0 },
    ],
  ])('%j is not %j', (one, other) => {
    expect(duplicateKey(rule(one))).not.toBe(duplicateKey(rule(other)));
  });
});

test('one rule for every protocol holds no duplicate', () => {
  expect(findDuplicates(PROTOCOL_NAMES.map((protocol) => rule({ protocol, ethertype: 'IPv6' })))).toEqual([
    // `icmp` with IPv6 is `ipv6-icmp`.
    { first: PROTOCOL_NAMES.indexOf('icmp'), second: PROTOCOL_NAMES.indexOf('ipv6-icmp') },
  ]);
});

test('refuseDuplicates names both positions of each pair', () => {
  const rules = [rule({}), rule({ protocol: 'tcp' }), rule({ description: 'again' }), rule({ protocol: 'any' })];
  const fieldOf = (position: number) => `rules.${position}`;
  expect(findDuplicates(rules)).toEqual([
    { first: 0, second: 2 },
    { first: 0, second: 3 },
  ]);
  expect(() => refuseDuplicates(rules, fieldOf)).toThrow(ConflictError);
  expect(() => refuseDuplicates(rules, fieldOf)).toThrow(/rules\.2 is the same rule as rules\.0; rules\.3 is/);
  expect(() => refuseDuplicates(rules.slice(0, 2), fieldOf)).not.toThrow();
});
