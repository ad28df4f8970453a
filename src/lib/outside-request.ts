import type { LookupAddress } from 'node:dns';
import dns from 'node:dns';
import type { ClientRequest, RequestOptions } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import net from 'node:net';
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

export interface OutsideOptions extends RequestOptions {
  /** The host is allowed whatever its address. */
  open: boolean;
  /** Makes the error for a host that is not on the public internet. */
  refusal: () => Error;
}

/**
 * Begins a request to a stranger's server, on a new connection and without any proxy. Unless `open` is set, it only
 * connects to public addresses. The connection's own look-up checks them, so that a name can't give one address to the
 * check and another to the connection. Redirects are answers like all others.
 *
 * Uses node:http and not undici: only version 8 of undici survives a server that hangs up while its answer
 * waits to be written (nodejs/undici#5360), and that version requires Node 22.
 * @throws the error of `refusal`
 */
export function requestOutside(url: URL, { open, refusal, ...options }: OutsideOptions): ClientRequest {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // There is no look-up for an IP address.
  if (!open && net.isIP(host) !== 0 && !isPublicAddress(host)) throw refusal();
  const { request, Agent } = url.protocol === 'https:' ? https : http;
  return request(url, {
    ...options,
    agent: new Agent({ keepAlive: false }),
    ...(!open && { lookup: lookUpPublic(refusal) }),
  });
}
