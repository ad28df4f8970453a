import { isIPv4 } from 'node:net';
import { canonicalAddress } from '../../../lib/cidr.ts';
import { InvalidError } from '../../../lib/errors.ts';
import type { FloatingTarget } from '../ports/in-transaction.ts';

/** Returns the wanted address of the port; if none is named, the first free one. @throws InvalidError */
export function targetAddress(
  target: FloatingTarget | undefined,
  wish: { port_id: string; fixed_ip_address?: string | null | undefined },
  taken: readonly (string | null)[],
): string {
  if (!target) {
    throw new InvalidError({ port_id: [`No port ${wish.port_id} in this project and region.`] });
  }
  if (target.external) {
    throw new InvalidError({
      port_id: [`Port ${target.id} is in the external network and already has a public address.`],
    });
  }
  const offered = target.addresses.filter((address) => isIPv4(address));
  const given = wish.fixed_ip_address ?? undefined;
  if (given !== undefined) {
    const address = canonicalAddress(given)?.address;
    if (address !== undefined && offered.includes(address)) return address;
    throw new InvalidError({ fixed_ip_address: [`Port ${target.id} has no IPv4 address ${given}.`] });
  }
  const chosen = offered.find((address) => !taken.includes(address)) ?? offered[0];
  if (chosen !== undefined) return chosen;
  throw new InvalidError({
    fixed_ip_address: [
      `Port ${target.id} has no IPv4 address, and floating IPs can only be assigned to IPv4 addresses.`,
    ],
  });
}
