import { ConflictError } from '../../../../lib/errors.ts';
import type { GroupChange } from '../group-change.ts';
import { type CanonicalRule, canonicalRule, type RuleInput } from '../rules/rule.ts';
import type { SecurityGroupRow } from '../store.ts';

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

/** The description by which the official clients recognise the platform's own rules, which they don't touch. */
export const PLATFORM_RULE = 'system';

/** Protects the rules that a cluster's nodes need in their group. @throws ConflictError */
export function refusePlatformRules(group: SecurityGroupRow, change: GroupChange): void {
  if (group.cluster_id === null) return;
  const { removed = [], replaced = [], added = [] } = change;
  const touched = new Set([...removed, ...replaced.map(({ id }) => id)]);
  const own = group.rules.find(({ id, description }) => touched.has(id) && description === PLATFORM_RULE);
  if (own) {
    throw new ConflictError(
      `Rule ${own.id} of security group ${group.name} has the description ${PLATFORM_RULE}: the nodes of its Kubernetes cluster need it. Leave it unchanged, and include it unchanged in requests that send all rules`,
    );
  }
  if ([...replaced, ...added].some(({ description }) => description === PLATFORM_RULE)) {
    throw new ConflictError(
      `In security group ${group.name}, which belongs to the nodes of a Kubernetes cluster, the description ${PLATFORM_RULE} is reserved for rules of the platform. Choose another description`,
    );
  }
}

/** The tag by which the official clients find the group of a cluster's nodes. Its value is the cluster's name. */
export const CLUSTER_TAG = 'gcloud_cluster_name';
