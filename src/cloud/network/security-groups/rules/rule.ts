import { canonicalCidr, type IpFamily } from '../../../../lib/cidr.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import {
  ICMP_PROTOCOLS,
  IPV6_ONLY_PROTOCOLS,
  isProtocol,
  PORT_PROTOCOLS,
  protocolIn,
} from '../../../../lib/ip-addresses.ts';

export type Direction = 'ingress' | 'egress';

/** A rule in a request. The schema has checked types and ranges. */
export type RuleInput = Pick<CanonicalRule, 'direction'> & {
  [Field in Exclude<keyof CanonicalRule, 'direction'>]?: CanonicalRule[Field] | null;
};

/** A rule as it is stored and answered. Null means all protocols or ports; no prefix and no group mean everyone. */
export interface CanonicalRule {
  direction: Direction;
  ethertype: IpFamily;
  protocol: string | null;
  port_range_min: number | null;
  port_range_max: number | null;
  remote_ip_prefix: string | null;
  remote_group_id: string | null;
  description: string;
}

/**
 * Returns the canonical form of a rule, before anything is checked or stored, in Neutron's order (securitygroups_db).
 * A canonical rule doesn't change. Never throws: what can't be parsed stays, and `ruleProblems` refuses it.
 */
export function canonicalRule(input: RuleInput): CanonicalRule {
  const ethertype = input.ethertype ?? 'IPv4';
  const everyPort = input.port_range_min === 1 && input.port_range_max === 65535;
  return {
    direction: input.direction,
    ethertype,
    protocol: protocolIn(ethertype, input.protocol ?? null),
    port_range_min: everyPort ? null : (input.port_range_min ?? null),
    port_range_max: everyPort ? null : (input.port_range_max ?? null),
    remote_ip_prefix: prefixOf(input.remote_ip_prefix ?? null),
    remote_group_id: input.remote_group_id?.toLowerCase() ?? null,
    description: input.description ?? '',
  };
}

function prefixOf(prefix: string | null): string | null {
  return prefix === null ? null : (canonicalCidr(prefix)?.cidr ?? prefix);
}

const EVERYONE: ReadonlySet<string | null> = new Set(['0.0.0.0/0', '::/0', null]);

/**
 * Returns a key that is equal for equal rules of a group (Neutron securitygroups_db, `_rule_to_key`). The description
 * doesn't matter, and `0.0.0.0/0`, `::/0` and no prefix are equal. Prefixes compare as text, including host bits.
 */
export function duplicateKey(rule: CanonicalRule): string {
  return JSON.stringify([
    rule.direction,
    rule.ethertype,
    rule.protocol,
    rule.port_range_min,
    rule.port_range_max,
    rule.remote_group_id,
    EVERYONE.has(rule.remote_ip_prefix) ? null : rule.remote_ip_prefix,
  ]);
}

/** Returns the positions of rules that repeat an earlier one, and the position of that one. */
export function findDuplicates(rules: readonly CanonicalRule[]): { first: number; second: number }[] {
  const seen = new Map<string, number>();
  const duplicates: { first: number; second: number }[] = [];
  for (const [second, rule] of rules.entries()) {
    const key = duplicateKey(rule);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, second);
    else duplicates.push({ first, second });
  }
  return duplicates;
}

/** Throws a ConflictError that names both positions if a request contains the same rule twice. */
export function refuseDuplicates(rules: readonly CanonicalRule[], fieldOf: (position: number) => string): void {
  const texts = findDuplicates(rules).map(
    ({ first, second }) => `${fieldOf(second)} is the same rule as ${fieldOf(first)}`,
  );
  if (texts.length === 0) return;
  throw new ConflictError(
    `Duplicate security group rules: ${texts.join('; ')}. Send each rule once. Descriptions don't make rules different, and 0.0.0.0/0, ::/0 and no prefix all mean any address.`,
  );
}

type Ports = Pick<CanonicalRule, 'port_range_min' | 'port_range_max'>;
/** A problem of one field of the rule. The path is relative to the rule. */
type Problem = FieldProblem & { field: keyof CanonicalRule };

/**
 * Returns what a network would refuse in a rule. Checks its canonical form in Neutron's order (securitygroups_db).
 * Fields are named `<fieldPrefix>.<field>`, or `<field>` without a prefix. Doesn't check whether the remote group
 * exists.
 */
export function ruleProblems(input: RuleInput, fieldPrefix: string): FieldProblem[] {
  const rule = canonicalRule(input);
  return [
    ...protocolProblems(rule),
    ...portProblems(rule),
    ...prefixProblems(rule),
    ...familyProblems(rule),
    ...remoteProblems(rule),
  ].map(({ field, message }) => ({
    field: fieldPrefix === '' ? field : `${fieldPrefix}.${field}`,
    message,
  }));
}

function protocolProblems({ protocol }: CanonicalRule): Problem[] {
  if (protocol === null || isProtocol(protocol)) return [];
  return [{ field: 'protocol', message: `${protocol} is not a supported protocol.` }];
}

function portProblems({ protocol, ...ports }: CanonicalRule): Problem[] {
  const given = givenPort(ports);
  if (given === undefined) return [];
  if (protocol === null) {
    const message = `Ports require a protocol with ports; set protocol to one of ${PORT_PROTOCOLS.join(', ')}, or leave the ports out.`;
    return [{ field: given, message }];
  }
  if (PORT_PROTOCOLS.includes(protocol)) return portRangeProblems(ports, protocol);
  if (ICMP_PROTOCOLS.includes(protocol)) return icmpProblems(ports);
  const message = `${protocol} has no ports; leave them out. Protocols with ports are ${PORT_PROTOCOLS.join(', ')}.`;
  return [{ field: given, message }];
}

function givenPort(ports: Ports): keyof Ports | undefined {
  if (ports.port_range_min !== null) return 'port_range_min';
  return ports.port_range_max === null ? undefined : 'port_range_max';
}

function portRangeProblems({ port_range_min: min, port_range_max: max }: Ports, protocol: string): Problem[] {
  const zero = (field: keyof Ports): Problem => ({
    field,
    message: `Port 0 is not allowed with ${protocol}; use 1 to 65535, or leave both ports out for all ports.`,
  });
  const missing = (field: keyof Ports, other: keyof Ports): Problem => ({
    field,
    message: `Is required because ${other} is set; for a single port, send the same number twice.`,
  });
  const problems: Problem[] = [];
  if (min === 0) problems.push(zero('port_range_min'));
  if (max === 0) problems.push(zero('port_range_max'));
  if (min === null) problems.push(missing('port_range_min', 'port_range_max'));
  if (max === null) problems.push(missing('port_range_max', 'port_range_min'));
  if (problems.length === 0 && min !== null && max !== null && min > max) {
    const message = `Must not be greater than port_range_max (${min} > ${max}).`;
    problems.push({ field: 'port_range_min', message });
  }
  return problems;
}

function icmpProblems({ port_range_min: type, port_range_max: code }: Ports): Problem[] {
  const problems: Problem[] = [];
  if (type !== null && (type < 0 || type > 255)) {
    problems.push({
      field: 'port_range_min',
      message: `Holds the ICMP type, which must be from 0 to 255, but is ${type}.`,
    });
  }
  if (code !== null && (code < 0 || code > 255)) {
    problems.push({
      field: 'port_range_max',
      message: `Holds the ICMP code, which must be from 0 to 255, but is ${code}.`,
    });
  }
  if (type === null) {
    const message = 'Holds the ICMP type, which is required when port_range_max, the ICMP code, is set.';
    problems.push({ field: 'port_range_min', message });
  }
  return problems;
}

function prefixProblems({ remote_ip_prefix: prefix, ethertype }: CanonicalRule): Problem[] {
  if (prefix === null) return [];
  const family = canonicalCidr(prefix)?.family;
  if (family === ethertype) return [];
  const message =
    family === undefined
      ? 'Must be a CIDR such as 10.0.0.0/8 or 2001:db8::/32, a single address, or null for any address.'
      : `${prefix} is ${family}, but ethertype is ${ethertype}; set ethertype to ${family} or use an ${ethertype} prefix.`;
  return [{ field: 'remote_ip_prefix', message }];
}

function familyProblems({ protocol, ethertype }: CanonicalRule): Problem[] {
  if (ethertype !== 'IPv4' || protocol === null || !IPV6_ONLY_PROTOCOLS.includes(protocol)) return [];
  return [{ field: 'ethertype', message: `${protocol} is IPv6 only; set ethertype to IPv6.` }];
}

function remoteProblems({ remote_ip_prefix: prefix, remote_group_id: group }: CanonicalRule): Problem[] {
  if (prefix === null || group === null) return [];
  return [
    {
      field: 'remote_group_id',
      message: "Can't be combined with remote_ip_prefix; send only one of the two.",
    },
  ];
}

/** Returns the rules of a request in canonical form. @throws InvalidError, ConflictError for a duplicate rule */
export function acceptedRules(given: readonly RuleInput[], fieldOf: (position: number) => string): CanonicalRule[] {
  const problems = given.flatMap((rule, position) => ruleProblems(rule, fieldOf(position)));
  if (problems.length > 0) throw new InvalidError(problems);
  const rules = given.map(canonicalRule);
  refuseDuplicates(rules, fieldOf);
  return rules;
}

/** Returns the rule of a request in canonical form. @throws InvalidError */
export function acceptedRule(given: RuleInput): CanonicalRule {
  const problems = ruleProblems(given, '');
  if (problems.length > 0) throw new InvalidError(problems);
  return canonicalRule(given);
}
