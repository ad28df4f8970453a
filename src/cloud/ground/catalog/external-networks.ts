import { canonicalAddress, type IpFamily } from '../../../lib/cidr.ts';
import { BITS, isBetween, numberOf } from '../../../lib/ip-addresses.ts';
import { gatewayIn, poolOf, subnetRange } from '../../../lib/subnet-ranges.ts';
import type { CrossFault, PathParts } from './faults.ts';
import type { PrefixEntry, Region } from './schema.ts';

/* The public addresses of regions: ranges of external networks, each of which becomes a subnet. */

export interface Prefix {
  cidr: string;
  family: IpFamily;
  gateway: string | null;
  /** The first and the last address that is given out. */
  first: string;
  last: string;
}

interface Problem {
  field: keyof PrefixEntry;
  message: string;
}

/** Returns what a prefix of the catalogue means where the backend keeps so many of the lowest addresses. */
export function prefixOf(
  entry: PrefixEntry,
  keeps: (prefix: Pick<Prefix, 'cidr' | 'gateway'>) => number,
): Prefix | Problem {
  const range = subnetRange(entry.cidr);
  if ('message' in range) return problem('cidr', range.message, entry);
  const { cidr, family, firstHost, lastHost } = range;
  const gateway = gatewayIn(range, entry.gateway);
  if (gateway !== null && typeof gateway !== 'string') return problem('gateway', gateway.message, entry);
  const [first, last] = [entry.first ?? firstHost, entry.last ?? lastHost].map(
    (text) => canonicalAddress(text)?.address,
  );
  const between = `Use an address from ${firstHost} to ${lastHost}.`;
  if (first === undefined || !isBetween(firstHost, first, lastHost)) return problem('first', between, entry);
  if (last === undefined || !isBetween(firstHost, last, lastHost)) return problem('last', between, entry);
  const pool = poolOf(range, gateway, keeps({ cidr, gateway }));
  if (!pool) return problem('cidr', 'The backend of the region keeps all of its addresses. Use a larger one.', entry);
  const found: Prefix = {
    ...{ cidr, family, gateway },
    first: isBetween(pool.first, first, lastHost) ? first : pool.first,
    last: isBetween(firstHost, last, pool.last) ? last : pool.last,
  };
  return numberOf(found.first) <= numberOf(found.last)
    ? found
    : problem(entry.first === undefined ? 'last' : 'first', 'It leaves no address to give out.', entry);
}

const problem = (field: Problem['field'], message: string, entry: PrefixEntry): Problem => ({
  field,
  message: `is ${JSON.stringify(entry[field])}. ${message}`,
});

/** Whether an ID, in lower case, is that of an external network of the region. */
export function leadsOutside(
  { external_network_id, external_networks }: Pick<Region, 'external_network_id' | 'external_networks'>,
  networkId: string,
): boolean {
  return networkId === external_network_id || external_networks.some(({ id }) => id === networkId);
}

interface Named extends Prefix {
  path: PathParts;
  title: string;
}

/** Finds prefixes that are none, two that have addresses in common, and networks with the ID of another. */
export function prefixFaults(regions: readonly Region[]): CrossFault[] {
  const faults: CrossFault[] = [];
  const fault = (path: PathParts, message: string) => faults.push({ file: 'regions.yaml', path, message });
  const named: Named[] = [];
  const owners = new Map<string, string>();
  for (const [at, { id: regionId, external_network_id, external_networks: networks }] of regions.entries()) {
    const [first] = networks;
    if (first && external_network_id !== first.id) {
      const message = `is ${external_network_id}, but the first of external_networks has the id ${first.id}. Use the same for both.`;
      fault(['regions', at, 'external_network_id'], message);
    }
    for (const [place, { id, name, prefixes }] of networks.entries()) {
      const path = ['regions', at, 'external_networks', place];
      const title = `network ${name} of region ${regionId}`;
      const owner = owners.get(id);
      if (owner !== undefined) fault([...path, 'id'], `is ${id}, which ${owner} already has. Choose another id.`);
      owners.set(id, title);
      for (const [index, prefix] of prefixes.entries()) {
        const own = [...path, 'prefixes', index];
        const found = prefixOf(prefix, () => 0);
        if ('message' in found) fault([...own, found.field], found.message);
        else named.push({ ...found, path: [...own, 'cidr'], title });
      }
    }
  }
  for (const [one, other] of overlaps(named)) {
    fault(one.path, `is ${one.cidr}, which overlaps ${other.cidr} of ${other.title}. Change one of the two.`);
  }
  return faults;
}

function endsOf({ cidr, family }: Prefix): { base: bigint; last: bigint } {
  const [address = '', mask] = cidr.split('/');
  const base = numberOf(address);
  return { base, last: base + (1n << BigInt(BITS[family] - Number(mask))) - 1n };
}

const compare = (a: bigint, b: bigint): number => Number(a > b) - Number(a < b);

/** Of two ranges with common addresses, one contains the other: it comes first, and nothing between them ends it. */
function overlaps(all: readonly Named[]): [Named, Named][] {
  const sorted = all
    .map((one) => ({ one, ...endsOf(one) }))
    .toSorted((a, b) => compare(a.base, b.base) || compare(b.last, a.last));
  const widest: Partial<Record<IpFamily, (typeof sorted)[number]>> = {};
  return sorted.flatMap((next): [Named, Named][] => {
    const reach = widest[next.one.family];
    if (reach && next.base <= reach.last) return [[next.one, reach.one]];
    widest[next.one.family] = next;
    return [];
  });
}
