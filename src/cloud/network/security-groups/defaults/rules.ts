import { type CanonicalRule, canonicalRule, type RuleInput } from '../rules/canonical.ts';

/** Returns rules that allow all outbound IPv4 and IPv6 traffic. */
export function defaultEgressRules(): CanonicalRule[] {
  return [
    canonicalRule({ direction: 'egress', ethertype: 'IPv4' }),
    canonicalRule({ direction: 'egress', ethertype: 'IPv6' }),
  ];
}

/** Returns rules that allow all traffic. The second version uses them when a request for a group contains no rules. */
export function openRules(): CanonicalRule[] {
  return [
    canonicalRule({ direction: 'ingress', ethertype: 'IPv4' }),
    canonicalRule({ direction: 'ingress', ethertype: 'IPv6' }),
    ...defaultEgressRules(),
  ];
}

/** Appends the two rules that allow all outbound traffic if there is no egress rule. */
export function withDefaultEgress(rules: readonly CanonicalRule[]): CanonicalRule[] {
  if (rules.some((rule) => rule.direction === 'egress')) return [...rules];
  return [...rules, ...defaultEgressRules()];
}

/**
 * Returns the rules of a project's `default` group, which `revert` restores: ICMP, SSH and RDP in and everything out,
 * for both families. No rule names the group itself.
 */
export function defaultGroupRules(): CanonicalRule[] {
  const inbound: Omit<RuleInput, 'direction' | 'ethertype'>[] = [
    { protocol: 'icmp' },
    onePort('tcp', 22),
    onePort('tcp', 3389),
    onePort('udp', 3389),
  ];
  const families = ['IPv4', 'IPv6'] as const;
  const ingress = inbound.flatMap((rule) =>
    families.map((ethertype) => canonicalRule({ direction: 'ingress', ethertype, ...rule })),
  );
  return [...ingress, ...defaultEgressRules()];
}

function onePort(protocol: string, port: number) {
  return { protocol, port_range_min: port, port_range_max: port };
}
