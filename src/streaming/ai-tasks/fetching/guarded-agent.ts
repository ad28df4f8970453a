import dns from 'node:dns';
import net, { type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { privateAddress } from './media-error.ts';
import { isPublicAddress } from './public-address.ts';

const CONNECT_MS = 10_000;

/**
 * Connects to public addresses alone. The address is checked in the look-up of the very connection, so a name
 * can't show one address to a check and another to the connection. Takes no proxy from the environment.
 */
export function guardedAgent(idleMs: number): Agent {
  const connector = buildConnector({ timeout: CONNECT_MS, lookup: lookUpPublic });
  return new Agent({
    ...timeouts(idleMs),
    connect(options, callback) {
      const host = options.hostname.replace(/^\[|\]$/g, '');
      // No look-up is made for an address.
      if (net.isIP(host) !== 0 && !isPublicAddress(host)) callback(privateAddress(), null);
      else connector(options, callback);
    },
  });
}

/** For hosts that the operator allows by name. */
export function openAgent(idleMs: number): Agent {
  return new Agent({ ...timeouts(idleMs), connect: { timeout: CONNECT_MS } });
}

function timeouts(idleMs: number) {
  return { headersTimeout: idleMs, bodyTimeout: idleMs, keepAliveTimeout: 1, pipelining: 0 };
}

const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error) return callback(error, '', 0);
    const addresses = found.filter(({ address }) => isPublicAddress(address));
    const [first] = addresses;
    if (!first) return callback(privateAddress(), '', 0);
    if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
