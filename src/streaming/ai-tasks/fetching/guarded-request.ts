import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { attempt } from '../../../lib/attempt.ts';
import { isPublicAddress } from '../../../lib/public-address.ts';
import { lookUpPublic } from '../../../lib/public-lookup.ts';
import { privateAddress } from './media-error.ts';

export interface AskOptions {
  /** The host is allowed whatever its address. */
  open: boolean;
  signal: AbortSignal;
  idleMs: number;
  /** Called when nothing was sent for that long, including while connecting. */
  onIdle: () => void;
}

/**
 * Requests a file from a stranger's server, on a new connection and without any proxy. Unless `open` is set,
 * it only connects to public addresses. The connection's own look-up checks them, so that a name can't give
 * one address to the check and another to the connection.
 *
 * Uses node:http and not undici: only version 8 of undici survives a server that hangs up while its answer
 * waits to be written (nodejs/undici#5360), and that version requires Node 22.
 */
export function ask(url: URL, { open, signal, idleMs, onIdle }: AskOptions): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // There is no look-up for an IP address.
  if (!open && net.isIP(host) !== 0 && !isPublicAddress(host)) return Promise.reject(privateAddress());
  const target = new URL(url);
  target.username = '';
  target.password = '';
  const { get, Agent } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const request = get(target, {
      agent: new Agent({ keepAlive: false }),
      signal,
      timeout: idleMs,
      ...(!open && { lookup: lookUpPublic(privateAddress) }),
      headers: {
        accept: '*/*',
        'accept-encoding': 'identity',
        'user-agent': 'tradewind',
        ...credentialsOf(url),
      },
    });
    request.on('timeout', onIdle);
    request.on('error', reject);
    // Not every end is an error event: an answer that switches protocols has none.
    request.once('close', () => reject(Object.assign(new Error('No answer'), { code: 'ECONNRESET' })));
    request.once('response', (response) => {
      // Errors always need a listener, whatever happens to the answer.
      response.on('error', () => {});
      resolve(response);
    });
  });
}

function credentialsOf({ username, password }: URL): { authorization?: string } {
  if (username === '') return {};
  const decoded = (text: string) => attempt(() => decodeURIComponent(text)) ?? text;
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}
