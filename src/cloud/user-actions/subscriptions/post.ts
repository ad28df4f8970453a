import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { isPublicAddress } from '../../../lib/public-address.ts';
import { lookUpPublic } from '../../../lib/public-lookup.ts';

export interface Posting {
  headers: Record<string, string>;
  body: string;
  /** The host is allowed whatever its address is. */
  open: boolean;
  signal: AbortSignal;
}

/**
 * Sends a text to a stranger's server, on a connection of its own and past every proxy, and answers the status. Unless
 * it is open, only a public address is connected to. Redirects are answers like all others.
 */
export function post(url: URL, { headers, body, open, signal }: Posting): Promise<number> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // No look-up is made for an address.
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
    // Not every end is an error: an answer that asks to speak another protocol is none.
    sending.once('close', () => reject(new Error('No answer')));
    sending.once('response', (response) => {
      response.on('error', () => {});
      resolve(response.statusCode ?? 0);
      // What else it says is of no interest.
      response.destroy();
    });
    sending.end(body);
  });
}

function notPublic(): Error {
  return new Error('Its host is not on the public internet');
}
