import { BlockList, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { IpFamily } from './cidr.ts';

/** Addresses as numbers, to compare and count them. All texts must be canonical (`canonicalAddress`). */
export const BITS: Record<IpFamily, number> = { IPv4: 32, IPv6: 128 };

export function familyOf(address: string): IpFamily {
  return isIPv4(address) ? 'IPv4' : 'IPv6';
}

export function numberOf(address: string): bigint {
  return ipaddr
    .parse(address)
    .toByteArray()
    .reduce((number, byte) => number * 256n + BigInt(byte), 0n);
}

export function addressAt(number: bigint, family: IpFamily): string {
  const bytes = Array.from({ length: BITS[family] / 8 }, (_, index) =>
    Number((number >> BigInt(BITS[family] - 8 - 8 * index)) & 255n),
  );
  return ipaddr.fromByteArray(bytes).toString();
}

/** Whether an address lies in the range, including both ends; false for an address of the other family. */
export function isBetween(first: string, address: string, last: string): boolean {
  if (familyOf(first) !== familyOf(address)) return false;
  const number = numberOf(address);
  return numberOf(first) <= number && number <= numberOf(last);
}

/** Returns what counts as one sender: whoever has one IPv6 address has the rest of its /64 as well. */
export function senderNetwork(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}

/** Whether a host is this machine, and what is sent there never leaves it. */
export function isLocalHost(host: string): boolean {
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** The well-known prefix of NAT64 (RFC 6052); the last 32 bits are an IPv4 address. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** Azure's agent for virtual machines: a public address that always leads to the machine's own host. */
const WIRE_SERVER = '168.63.129.16';

/**
 * Whether an address is a single machine on the public internet that can't lead to this machine or network:
 * not private, loopback, link-local (cloud metadata), carrier-grade NAT, multicast or reserved, nor any of
 * those inside an IPv6 form.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return isPublicIpv4(address);
  if (address.isIPv4MappedAddress() || address.match(NAT64)) {
    return isPublicIpv4(new ipaddr.IPv4(address.toByteArray().slice(12)));
  }
  // 6to4 and Teredo have their own ranges: nobody serves files there, and they hide IPv4 addresses.
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast';
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && address.toString() !== WIRE_SERVER;
}

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

export const IPV6_ONLY_PROTOCOLS: readonly string[] = PROTOCOL_NAMES.filter((name) => name.startsWith('ipv6-'));

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

/** Returns what asks whether an address is in one of the CIDR ranges. An IPv4 address inside an IPv6 one counts as itself. */
export function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/');
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}
