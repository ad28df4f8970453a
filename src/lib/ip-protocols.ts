import type { IpFamily } from './cidr.ts';

/**
 * IP protocols by the names that rules use, with their IANA numbers. `ipip` is IANA's 94 and `ipencap` its 4, so that
 * one group can have rules for both.
 */
export const PROTOCOL_NUMBERS = {
  ah: 51,
  dccp: 33,
  egp: 8,
  esp: 50,
  gre: 47,
  icmp: 1,
  igmp: 2,
  ipencap: 4,
  ipip: 94,
  'ipv6-encap': 41,
  'ipv6-frag': 44,
  'ipv6-icmp': 58,
  'ipv6-nonxt': 59,
  'ipv6-opts': 60,
  'ipv6-route': 43,
  ospf: 89,
  pgm: 113,
  rsvp: 46,
  sctp: 132,
  tcp: 6,
  udp: 17,
  udplite: 136,
  vrrp: 112,
} as const;

export type ProtocolName = keyof typeof PROTOCOL_NUMBERS;

export const PROTOCOL_NAMES = Object.keys(PROTOCOL_NUMBERS) as ProtocolName[];

/** Protocols whose rules may name ports (Neutron's SG_PORT_PROTO_NUMS). */
export const PORT_PROTOCOLS: readonly string[] = ['dccp', 'sctp', 'tcp', 'udp', 'udplite'];

/** Protocols for which the port fields contain an ICMP type and code. */
export const ICMP_PROTOCOLS: readonly string[] = ['icmp', 'ipv6-icmp'];

export const IPV6_ONLY_PROTOCOLS: readonly string[] = PROTOCOL_NAMES.filter((name) =>
  name.startsWith('ipv6-'),
);

const nameByNumber = new Map<number, string>(PROTOCOL_NAMES.map((name) => [PROTOCOL_NUMBERS[name], name]));
const NUMBER = /^(?:0|[1-9]\d{0,2})$/;

/**
 * Returns the canonical name of a protocol: lower case, a known number by its name, `icmpv6` by its present name
 * `ipv6-icmp`, null for `any`. Unknown protocols don't change.
 */
export function canonicalProtocol(protocol: string | null): string | null {
  if (protocol === null) return null;
  const text = protocol.toLowerCase();
  if (text === 'any') return null;
  if (text === 'icmpv6') return 'ipv6-icmp';
  return NUMBER.test(text) ? (nameByNumber.get(Number(text)) ?? text) : text;
}

/** The same for one version of IP: ICMP has another name in IPv6. */
export function protocolIn(family: IpFamily, protocol: string | null): string | null {
  const canonical = canonicalProtocol(protocol);
  return family === 'IPv6' && canonical === 'icmp' ? 'ipv6-icmp' : canonical;
}

/** Whether a canonical protocol is a known name or a number from 0 to 255. */
export function isProtocol(protocol: string): boolean {
  if (NUMBER.test(protocol)) return Number(protocol) <= 255;
  return Object.hasOwn(PROTOCOL_NUMBERS, protocol);
}
