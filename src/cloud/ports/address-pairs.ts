import { addressOrRange } from '../../lib/cidr.ts';
import type { FieldProblem } from '../../lib/errors.ts';

/** What a port may send from besides its own address. Without a hardware address it is sent from the port's own. */
export interface AddressPair {
  ip_address: string;
  mac_address?: string;
}

/** Each pair once, in canonical form and sorted. What is wrong with one goes to `problems`. */
export function pairsFrom(
  given: readonly { ip_address: string; mac_address?: string | null }[],
  ownMac: string,
  problems: FieldProblem[],
): AddressPair[] {
  const pairs = new Map<string, AddressPair>();
  for (const [index, { ip_address: text, mac_address: macText }] of given.entries()) {
    const found = addressOrRange(text);
    const mac = macText?.toLowerCase().replaceAll('-', ':');
    if ('fault' in found) {
      problems.push({ field: `allowed_address_pairs.${index}.ip_address`, message: found.fault });
    } else if (mac === undefined || mac === ownMac) pairs.set(found.address, { ip_address: found.address });
    else pairs.set(`${found.address} ${mac}`, { ip_address: found.address, mac_address: mac });
  }
  return [...pairs.keys()].sort().flatMap((key) => pairs.get(key) ?? []);
}

/** With the hardware address that each is sent from. */
export function presentedPairs(port: { allowed_address_pairs: readonly AddressPair[]; mac_address: string }) {
  return port.allowed_address_pairs.map(({ ip_address, mac_address = port.mac_address }) => ({
    ip_address,
    mac_address,
  }));
}
