import ipaddr from 'ipaddr.js';

/** Whether a host is this machine, and what is sent there never leaves it. */
export function isLocalHost(host: string): boolean {
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
}
