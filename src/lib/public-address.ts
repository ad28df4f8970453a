import ipaddr from 'ipaddr.js';

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
