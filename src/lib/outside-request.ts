import http, { type ClientRequest, type RequestOptions } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { isPublicAddress } from './public-address.ts';
import { lookUpPublic } from './public-lookup.ts';

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
