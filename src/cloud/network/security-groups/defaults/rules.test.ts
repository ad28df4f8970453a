import { describe, expect, test } from 'vitest';
import { canonicalRule, findDuplicates, ruleProblems } from '../rules/rule.ts';
import { defaultEgressRules, defaultGroupRules, openRules, withDefaultEgress } from './rules.ts';

test('the default egress rules allow everything in both families', () => {
  const everything = {
    direction: 'egress',
    protocol: null,
    port_range_min: null,
    port_range_max: null,
    remote_ip_prefix: null,
    remote_group_id: null,
    description: '',
  };
  expect(defaultEgressRules()).toEqual([
    { ...everything, ethertype: 'IPv4' },
    { ...everything, ethertype: 'IPv6' },
  ]);
});

test('the open rules let everything in and out in both families', () => {
  const [in4, in6, ...out] = openRules();
  const ingress = defaultEgressRules().map((rule) => ({ ...rule, direction: 'ingress' }));
  expect([in4, in6]).toEqual(ingress);
  expect(out).toEqual(defaultEgressRules());
});

describe('withDefaultEgress', () => {
  const ingress = canonicalRule({ direction: 'ingress', protocol: 'tcp' });
  const egress = canonicalRule({ direction: 'egress', ethertype: 'IPv6', protocol: 'udp' });

  test('adds the two rules where no egress rule is given', () => {
    expect(withDefaultEgress([])).toEqual(defaultEgressRules());
    expect(withDefaultEgress([ingress])).toEqual([ingress, ...defaultEgressRules()]);
  });

  test('adds nothing beside an egress rule of one family', () => {
    expect(withDefaultEgress([ingress, egress])).toEqual([ingress, egress]);
  });
});

test('the default group lets ICMP, SSH and RDP in and everything out', () => {
  const rules = defaultGroupRules();
  const short = rules.map((rule) =>
    [rule.direction, rule.ethertype, rule.protocol ?? 'all', rule.port_range_min ?? ''].join(' ').trimEnd(),
  );
  expect(short).toEqual([
    'ingress IPv4 icmp',
    'ingress IPv6 ipv6-icmp',
    'ingress IPv4 tcp 22',
    'ingress IPv6 tcp 22',
    'ingress IPv4 tcp 3389',
    'ingress IPv6 tcp 3389',
    'ingress IPv4 udp 3389',
    'ingress IPv6 udp 3389',
    'egress IPv4 all',
    'egress IPv6 all',
  ]);
  expect(rules.flatMap((rule, index) => ruleProblems(rule, String(index)))).toEqual([]);
  expect(findDuplicates(rules)).toEqual([]);
  expect(rules.every((rule) => rule.port_range_min === rule.port_range_max)).toBe(true);
});
