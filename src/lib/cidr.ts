import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

export type IpFamily = 'IPv4' | 'IPv6';

export interface CanonicalAddress {
  address: string;
  family: IpFamily;
}

export interface CanonicalCidr {
  /** The address as it was given, including host bits, with its mask: `10.0.0.1/24`. */
  cidr: string;
  /** The network of the address, with host bits cleared: `10.0.0.0/24`. */
  network: string;
  family: IpFamily;
}

const PREFIX_LENGTH = /^(?:0|[1-9]\d{0,2})$/;
const EMBEDDED_IPV4 = /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

/**
 * Returns the canonical text of an address: dotted decimal, or IPv6 in lower case and compressed as in RFC
 * 5952. Undefined for forms that only some parsers accept: `10.1`, octal or hexadecimal parts, zone ids.
 */
export function canonicalAddress(text: string): CanonicalAddress | undefined {
  if (isIPv4(text)) return { address: text, family: 'IPv4' };
  if (text.includes('%') || !isIPv6(text)) return undefined;
  return { address: ipaddr.IPv6.parse(withoutDottedTail(text)).toString(), family: 'IPv6' };
}

/**
 * Returns the canonical text of a CIDR; a missing mask becomes /32 or /128. Host bits stay in `cidr`, as
 * Neutron keeps them in `remote_ip_prefix`, so that a declarative client reads back what it wrote; `network`
 * is the form for comparing. Every other field refuses host bits: see `hostBitsFault`. Netmasks
 * (`/255.0.0.0`) and `/08` are not accepted.
 */
export function canonicalCidr(text: string): CanonicalCidr | undefined {
  const slash = text.indexOf('/');
  const found = canonicalAddress(slash < 0 ? text : text.slice(0, slash));
  if (!found) return undefined;
  const { address, family } = found;
  const longest = family === 'IPv4' ? 32 : 128;
  const mask = slash < 0 ? String(longest) : text.slice(slash + 1);
  if (!PREFIX_LENGTH.test(mask) || Number(mask) > longest) return undefined;
  const cidr = `${address}/${mask}`;
  const parser = family === 'IPv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return { cidr, network: `${parser.networkAddressFromCIDR(cidr)}/${mask}`, family };
}

/** Returns an error text for a range with bits beyond its mask: nobody can know which of the two was meant. */
export function hostBitsFault({ cidr, network }: CanonicalCidr): string | undefined {
  return cidr === network ? undefined : `Has bits set beyond its mask. Did you mean ${network}?`;
}

export const contains = (cidr: string, address: string): boolean => createContains()(cidr, address);

/** For many ranges and addresses, each of which is parsed once. */
export function createContains(): typeof contains {
  const ranges = new Map<string, ReturnType<typeof ipaddr.parseCIDR>>();
  const addresses = new Map<string, ReturnType<typeof ipaddr.parse>>();
  return (cidr, address) => {
    const [base, mask] = kept(ranges, cidr, ipaddr.parseCIDR);
    const other = kept(addresses, address, ipaddr.parse);
    return base.kind() === other.kind() && other.match(base, mask);
  };
}

function kept<Parsed>(known: Map<string, Parsed>, text: string, parse: (text: string) => Parsed): Parsed {
  const found = known.get(text);
  if (found !== undefined) return found;
  const parsed = parse(text);
  known.set(text, parsed);
  return parsed;
}

/** Returns the canonical text of an address or a range, for access rules and address pairs. */
export function addressOrRange(text: string): { address: string } | { fault: string } {
  const address = canonicalAddress(text)?.address;
  if (address !== undefined) return { address };
  const range = canonicalCidr(text);
  if (!range) return { fault: 'Must be an IP address such as 10.0.0.5, or a range such as 10.0.0.0/24.' };
  const fault = hostBitsFault(range);
  return fault === undefined ? { address: range.network } : { fault };
}

/** ipaddr.js reads `::1.2.3.4` as `::ffff:1.2.3.4`, so the dotted tail is converted to two groups first. */
function withoutDottedTail(text: string): string {
  return text.replace(EMBEDDED_IPV4, (_tail, a: string, b: string, c: string, d: string) => {
    const group = (high: string, low: string) => (Number(high) * 256 + Number(low)).toString(16);
    return `${group(a, b)}:${group(c, d)}`;
  });
}
