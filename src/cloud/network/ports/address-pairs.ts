import { addressOrRange } from '../../../lib/cidr.ts';
import type { FieldProblem } from '../../../lib/errors.ts';
import type { AddressPair } from './tables.ts';

/** Returns the pairs in canonical form, sorted. Adds faults to `problems`; as in Neutron, a pair may not repeat. */
export function pairsFrom(
  given: readonly { ip_address: string; mac_address?: string | null }[],
  ownMac: string,
  problems: FieldProblem[],
): AddressPair[] {
  const pairs = new Map<string, AddressPair>();
  for (const [index, { ip_address: text, mac_address: macText }] of given.entries()) {
    const field = `allowed_address_pairs.${index}`;
    const found = addressOrRange(text);
    if ('fault' in found) {
      problems.push({ field: `${field}.ip_address`, message: found.fault });
      continue;
    }
    const mac = macText?.toLowerCase().replaceAll('-', ':') ?? ownMac;
    const key = mac === ownMac ? found.address : `${found.address} ${mac}`;
    if (pairs.has(key)) problems.push({ field, message: 'Is a duplicate; send each pair once.' });
    pairs.set(key, { ip_address: found.address, ...((macText ?? null) !== null && { mac_address: mac }) });
  }
  return [...pairs.keys()].sort().flatMap((key) => pairs.get(key) ?? []);
}
