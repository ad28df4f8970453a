import ipaddr from 'ipaddr.js';

/** Returns what counts as one sender: whoever has one IPv6 address has the rest of its /64 as well. */
export function senderNetwork(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
