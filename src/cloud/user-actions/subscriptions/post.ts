import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { isPublicAddress } from '../../../lib/public-address.ts';
import { lookUpPublic } from '../../../lib/public-lookup.ts';

export interface Posting {
  headers: Record<string, string>;
  body: string;
  /** Whether the host is allowed whatever its address is. */
  open: boolean;
  signal: AbortSignal;
}

/**
 * Sends a text to an unknown server, on a new connection and without a proxy. Returns the status. Unless `open` is
 * set, only connects to public addresses. Redirects are answers like all others.
 */
export function post(url: URL, { headers, body, open, signal }: Posting): Promise<number> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // An address in the URL needs no look-up, so it is checked here.
  if (!open && net.isIP(host) !== 0 && !isPublicAddress(host)) return Promise.reject(notPublic());
  const { request, Agent } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sending = request(url, {
      method: 'POST',
      agent: new Agent({ keepAlive: false }),
      signal,
      ...(!open && { lookup: lookUpPublic(notPublic) }),
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    });
    sending.on('error', reject);
    // A request may end without an answer and without an error, for example if the server wants to switch protocols.
    sending.once('close', () => reject(new Error('No response')));
    sending.once('response', (response) => {
      response.on('error', () => {});
      resolve(response.statusCode ?? 0);
      // The rest of the answer doesn't matter.
      response.destroy();
    });
    sending.end(body);
  });
}

function notPublic(): Error {
  return new Error('The host is not on the public internet');
}
