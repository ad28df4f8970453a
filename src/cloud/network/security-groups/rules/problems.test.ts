import { describe, expect, test } from 'vitest';
import { PORT_PROTOCOLS, PROTOCOL_NAMES } from '../../../../lib/ip-addresses.ts';
import { type RuleInput, ruleProblems } from './rule.ts';

const GROUP = '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a';

function problems(rule: Partial<RuleInput>) {
  return ruleProblems({ direction: 'ingress', ...rule }, 'rules.0');
}

function ports(port_range_min: number | null, port_range_max: number | null) {
  return { port_range_min, port_range_max };
}

describe('sound rules', () => {
  test.each<Partial<RuleInput>>([
    {},
    { protocol: 'any' },
    { protocol: 'tcp' },
    { protocol: 'tcp', ...ports(22, 22) },
    { protocol: 'udplite', ...ports(1, 65535) },
    { protocol: '6', ...ports(80, 443) },
    { protocol: '255' },
    ports(1, 65535),
    { protocol: 'gre', ...ports(1, 65535) },
    { protocol: 'icmp' },
    { protocol: 'icmp', ...ports(8, null) },
    { protocol: 'icmp', ...ports(0, 0) },
    { protocol: 'icmp', ...ports(255, 255) },
    { protocol: 'icmp', ...ports(3, 1) },
    { protocol: 'icmp', ethertype: 'IPv6', ...ports(128, 0) },
    { remote_ip_prefix: '10.0.0.1/24' },
    { remote_ip_prefix: '::/0', ethertype: 'IPv6' },
    { remote_group_id: GROUP },
  ])('%j', (rule) => {
    expect(problems(rule)).toEqual([]);
  });

  test('every protocol passes without ports in IPv6', () => {
    for (const protocol of PROTOCOL_NAMES) expect(problems({ protocol, ethertype: 'IPv6' })).toEqual([]);
  });
});

describe('refused rules', () => {
  test.each<[rule: Partial<RuleInput>, field: string, message: RegExp]>([
    [ports(22, 22), 'port_range_min', /require a protocol/],
    [ports(null, 22), 'port_range_max', /require a protocol/],
    [{ protocol: 'any', ...ports(22, 22) }, 'port_range_min', /require a protocol/],
    [{ protocol: 'tcp', ...ports(443, 80) }, 'port_range_min', /443 > 80/],
    [{ protocol: 'tcp', ...ports(22, null) }, 'port_range_max', /Is required because port_range_min/],
    [{ protocol: 'tcp', ...ports(null, 22) }, 'port_range_min', /Is required because port_range_max/],
    [{ protocol: 'gre', ...ports(1, 1) }, 'port_range_min', /dccp, sctp, tcp, udp, udplite/],
    [{ protocol: 'vrrp', ...ports(null, 0) }, 'port_range_max', /dccp, sctp, tcp, udp, udplite/],
    [{ protocol: '200', ...ports(1, 2) }, 'port_range_min', /has no ports/],
    [{ protocol: 'icmp', ...ports(256, null) }, 'port_range_min', /ICMP type.*0 to 255/],
    [{ protocol: 'icmp', ...ports(-1, null) }, 'port_range_min', /ICMP type.*0 to 255/],
    [{ protocol: 'icmp', ...ports(8, -1) }, 'port_range_max', /ICMP code.*0 to 255/],
    [{ protocol: 'icmp', ...ports(8, 256) }, 'port_range_max', /ICMP code.*0 to 255/],
    [{ protocol: 'icmp', ...ports(null, 0) }, 'port_range_min', /ICMP type.*required/],
    [{ protocol: 'ipv6-icmp', ethertype: 'IPv6', ...ports(null, 1) }, 'port_range_min', /is required/],
    [{ protocol: 'nonsense' }, 'protocol', /nonsense/],
    [{ protocol: '256' }, 'protocol', /256/],
    [{ protocol: 'constructor' }, 'protocol', /constructor/],
    [{ remote_ip_prefix: 'nonsense' }, 'remote_ip_prefix', /CIDR/],
    [{ remote_ip_prefix: '' }, 'remote_ip_prefix', /CIDR/],
    [{ remote_ip_prefix: '10.0.0.0/33' }, 'remote_ip_prefix', /CIDR/],
    [{ remote_ip_prefix: '2001:db8::/32' }, 'remote_ip_prefix', /is IPv6, but ethertype is IPv4/],
    [{ remote_ip_prefix: '::/0' }, 'remote_ip_prefix', /set ethertype to IPv6/],
    [{ remote_ip_prefix: '10.0.0.0/8', ethertype: 'IPv6' }, 'remote_ip_prefix', /is IPv4/],
    [{ protocol: 'ipv6-icmp' }, 'ethertype', /is IPv6 only/],
    [{ protocol: 'icmpv6' }, 'ethertype', /is IPv6 only/],
    [{ protocol: '58', ethertype: 'IPv4' }, 'ethertype', /is IPv6 only/],
    [{ remote_ip_prefix: '10.0.0.0/8', remote_group_id: GROUP }, 'remote_group_id', /one of the two/],
  ])('%j: %s', (rule, field, message) => {
    expect(problems(rule)).toEqual([{ field: `rules.0.${field}`, message: expect.stringMatching(message) }]);
  });

  test.each(PORT_PROTOCOLS)('port 0 of %s', (protocol) => {
    expect(problems({ protocol, ...ports(0, 0) }).map(({ field }) => field)).toEqual([
      'rules.0.port_range_min',
      'rules.0.port_range_max',
    ]);
    expect(problems({ protocol, ...ports(0, 10) })).toHaveLength(1);
  });

  test.each(['encap', 'frag', 'icmp', 'nonxt', 'opts', 'route'])('ipv6-%s in IPv4', (name) => {
    expect(problems({ protocol: `ipv6-${name}`, ethertype: 'IPv4' })).toHaveLength(1);
  });

  test('fields stand alone where the rule is the whole body', () => {
    expect(ruleProblems({ direction: 'ingress', protocol: 'nonsense' }, '')).toMatchObject([{ field: 'protocol' }]);
  });

  test('independent faults of one rule are all named, in order', () => {
    const rule = { protocol: 'ipv6-frag', ...ports(1, 2), remote_ip_prefix: '::1', remote_group_id: GROUP };
    expect(problems(rule).map(({ field }) => field)).toEqual([
      'rules.0.port_range_min',
      'rules.0.remote_ip_prefix',
      'rules.0.ethertype',
      'rules.0.remote_group_id',
    ]);
  });
});
