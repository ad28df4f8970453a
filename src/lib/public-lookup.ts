import dns, { type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { isPublicAddress } from './public-address.ts';

/** Asks the servers of names. `resolve4` and `resolve6` reject if there is no such address. */
export type Resolver = Pick<dns.promises.Resolver, 'resolve4' | 'resolve6'>;

const WITHIN = { timeout: 2_000, tries: 2 };
/** The servers have answered, or there are none: a name may still be known to this machine. */
const NOT_THERE = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/**
 * Returns a DNS look-up for connections to strangers' hosts: it finds only public addresses, and fails with
 * `refusal` if there are none. The connection itself uses it, so the address that was checked is the one that
 * is used.
 *
 * It asks the servers itself. `dns.lookup` waits in one of four threads that the whole process has, so that four names
 * whose servers are silent would hold up all others, and files as well.
 */
export function lookUpPublic(
  refusal: () => Error,
  resolver: Resolver = new dns.promises.Resolver(WITHIN),
): LookupFunction {
  return (hostname, options, callback) => {
    find(hostname, resolver, (error, found) => {
      if (error) return callback(error, '', 0);
      const wanted = found.filter(({ family }) => !options.family || family === options.family);
      const addresses = wanted.filter(({ address }) => isPublicAddress(address));
      const [first] = addresses;
      if (!first) return callback(refusal(), '', 0);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

const find = callbackify(addressesOf);

async function addressesOf(hostname: string, resolver: Resolver): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = answers.flatMap((answer, index) =>
    answer.status === 'fulfilled'
      ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 }))
      : [],
  );
  if (found.length > 0) return found;
  const failed = answers.find((one) => one.status === 'rejected' && !NOT_THERE.has(one.reason?.code));
  if (failed?.status === 'rejected') throw failed.reason;
  return dns.promises.lookup(hostname, { all: true });
}
