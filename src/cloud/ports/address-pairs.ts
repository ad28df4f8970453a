import { addressOrRange } from '../../lib/cidr.ts';
import type { FieldProblem } from '../../lib/errors.ts';
import type { AddressPair } from './tables.ts';

/** Returns each pair once, in canonical form and sorted. Adds faults to `problems`. */
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
