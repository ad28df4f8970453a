import { describe, expect, it } from 'vitest';
import { canonicalRule, type RuleInput } from '../../cloud/network/security-groups/rules/rule.ts';
import { type Connection, lets, missingFor } from './letting.ts';

const GROUP = '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a';

const INTERNET = { address: 'internet', groupIds: [] };

const rule = (given: Partial<RuleInput>) => ({
  ...canonicalRule({ direction: 'ingress', ...given }),
  id: GROUP,
  security_group_id: GROUP,
});

const connection = (given: Partial<Connection>): Connection => ({
  direction: 'ingress',
  ethertype: 'IPv4',
  protocol: 'tcp',
  port: 443,
  remote: { address: '10.0.0.5', groupIds: [GROUP] },
  ...given,
});

const https = { protocol: 'tcp', port_range_min: 400, port_range_max: 443 };

describe('a rule', () => {
  it.each<[Partial<RuleInput>, Partial<Connection>]>([
    [{}, {}],
    [{}, { protocol: null, port: null }],
    [{ protocol: 'tcp' }, { port: null }],
    [https, {}],
    [https, { port: 400 }],
    [{ remote_ip_prefix: '10.0.0.5' }, {}],
    [{ remote_ip_prefix: '10.0.0.77/24' }, {}],
    [{ remote_ip_prefix: '0.0.0.0/0' }, {}],
    [{ remote_group_id: GROUP }, {}],
    [{}, { remote: INTERNET }],
    [{ remote_ip_prefix: '0.0.0.0/0' }, { remote: INTERNET }],
    [
      { ethertype: 'IPv6', remote_ip_prefix: '::/0' },
      { ethertype: 'IPv6', remote: INTERNET },
    ],
    [
      { ethertype: 'IPv6', remote_ip_prefix: '2001:db8::/32' },
      { ethertype: 'IPv6', remote: { address: '2001:db8::1', groupIds: [] } },
    ],
  ])('of %j lets %j pass', (given, asked) => {
    expect(lets(rule(given), connection(asked))).toBe(true);
  });

  it.each<[Partial<RuleInput>, Partial<Connection>]>([
    [{ direction: 'egress' }, {}],
    [{ ethertype: 'IPv6' }, {}],
    [{ protocol: 'udp' }, {}],
    [{ protocol: 'tcp' }, { protocol: null, port: null }],
    [https, { port: 444 }],
    [https, { port: 399 }],
    [https, { port: null }],
    [
      { protocol: 'icmp', port_range_min: 8 },
      { protocol: 'icmp', port: null },
    ],
    [{ remote_ip_prefix: '10.0.1.0/24' }, {}],
    [{ remote_ip_prefix: '0.0.0.0/1' }, { remote: INTERNET }],
    [{ remote_group_id: GROUP }, { remote: INTERNET }],
    [{ remote_group_id: GROUP }, { remote: { address: '10.0.0.5', groupIds: [] } }],
  ])('of %j does not let %j pass', (given, asked) => {
    expect(lets(rule(given), connection(asked))).toBe(false);
  });
});

describe('the rule that is missing', () => {
  it.each<Partial<Connection>>([
    {},
    { port: null },
    { protocol: null, port: null },
    { direction: 'egress' },
    { ethertype: 'IPv6', protocol: 'ipv6-icmp', port: null, remote: { address: '::1', groupIds: [] } },
  ])('of %j would let it pass, and nobody else', (asked) => {
    const wanted = connection(asked);
    const missing = { ...missingFor(wanted), id: GROUP, security_group_id: GROUP, remote_group_id: null };
    expect(lets(missing, wanted)).toBe(true);
    const stranger = wanted.ethertype === 'IPv4' ? '10.0.0.6' : '::2';
    expect(lets(missing, { ...wanted, remote: { address: stranger, groupIds: [] } })).toBe(false);
  });
});
