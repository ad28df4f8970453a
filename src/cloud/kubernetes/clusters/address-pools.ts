import ipaddr from 'ipaddr.js';
import { type CanonicalCidr, canonicalCidr, hostBitsFault, type IpFamily } from '../../../lib/cidr.ts';
import type { FieldProblem } from '../../../lib/errors.ts';

export const POOL_FIELDS = ['pods_ip_pool', 'services_ip_pool', 'pods_ipv6_pool', 'services_ipv6_pool'] as const;
type PoolField = (typeof POOL_FIELDS)[number];

/** CIDRs from which pods and services get addresses, in canonical form. */
export interface AddressPools {
  pods_ip_pool: string;
  services_ip_pool: string;
  pods_ipv6_pool: string | null;
  services_ipv6_pool: string | null;
}

export type AddressPoolsInput = { [Field in PoolField]?: string | null } & { is_ipv6?: boolean | null };

const DEFAULTS: AddressPools = {
  pods_ip_pool: '172.16.0.0/18',
  services_ip_pool: '172.24.0.0/18',
  pods_ipv6_pool: null,
  services_ipv6_pool: null,
};

/** Ranges that the platform's own parts of a cluster use. */
const RESERVED = ['10.255.255.0/24', '192.168.128.0/17'];

/**
 * Allowed prefix lengths. The API server takes at most 20 bits of service addresses (Kubernetes options/validation.go),
 * and the installer needs at least 10 addresses (kubeadm constants.go). Pods need a whole range for at least one node.
 */
const SIZES: Record<PoolField, { family: IpFamily; min: number; max: number }> = {
  pods_ip_pool: { family: 'IPv4', min: 8, max: 24 },
  services_ip_pool: { family: 'IPv4', min: 12, max: 28 },
  pods_ipv6_pool: { family: 'IPv6', min: 48, max: 120 },
  services_ipv6_pool: { family: 'IPv6', min: 108, max: 124 },
};

/** Returns the address pools of a new cluster and their problems. `subnetCidr` is the nodes' subnet, if it is known. */
export function addressPools(
  given: AddressPoolsInput,
  subnetCidr: string | undefined,
): { pools: AddressPools; problems: FieldProblem[] } {
  const problems: FieldProblem[] = [];
  const pools = { ...DEFAULTS };
  for (const field of POOL_FIELDS) {
    const text = given[field];
    if (text === undefined || text === null) continue;
    const cidr = canonicalCidr(text);
    const message = faultOf(field, text, cidr, given.is_ipv6 === true);
    if (message !== undefined) problems.push({ field, message });
    else if (cidr) pools[field] = cidr.cidr;
  }
  return { pools, problems: problems.length > 0 ? problems : overlapProblems(given, pools, subnetCidr) };
}

function faultOf(field: PoolField, text: string, cidr: CanonicalCidr | undefined, dualStack: boolean) {
  const { family, min, max } = SIZES[field];
  const example = DEFAULTS[field] ?? 'fd00:10:244::/112';
  if (!cidr || !text.includes('/')) return `Must be a CIDR such as ${example}.`;
  if (cidr.family !== family) return `Must be an ${family} range, such as ${example}.`;
  if (family === 'IPv6' && !dualStack) return 'Requires a dual-stack cluster: also send "is_ipv6": true.';
  const hostBits = hostBitsFault(cidr);
  if (hostBits !== undefined) return hostBits;
  const length = Number(cidr.cidr.split('/')[1]);
  return length < min || length > max ? `Must have a prefix length from /${min} to /${max}.` : undefined;
}

/** Reports each overlap once, at a field that the client sent. */
function overlapProblems(
  given: AddressPoolsInput,
  pools: AddressPools,
  subnetCidr: string | undefined,
): FieldProblem[] {
  const taken: { name: string; cidr: string; field?: PoolField }[] = [
    ...RESERVED.map((cidr) => ({ name: 'a range that the platform reserves', cidr })),
    ...(subnetCidr === undefined ? [] : [{ name: 'the node subnet', cidr: subnetCidr }]),
  ];
  const problems: FieldProblem[] = [];
  for (const field of POOL_FIELDS) {
    const cidr = pools[field];
    if (cidr === null) continue;
    const other = taken.find((range) => overlaps(range.cidr, cidr));
    taken.push({ name: field, cidr, field });
    if (!other) continue;
    const isSent = given[field] !== undefined && given[field] !== null;
    problems.push(
      isSent || other.field === undefined
        ? { field, message: `Overlaps ${other.name} (${other.cidr}). Choose another range.` }
        : { field: other.field, message: `Overlaps ${field} (${cidr}). Choose another range, or set both.` },
    );
  }
  return problems;
}

function overlaps(a: string, b: string): boolean {
  const [left, leftLength] = ipaddr.parseCIDR(a);
  const [right, rightLength] = ipaddr.parseCIDR(b);
  return left.kind() === right.kind() && left.match(right, Math.min(leftLength, rightLength));
}
