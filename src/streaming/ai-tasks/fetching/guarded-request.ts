import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { attempt } from '../../../lib/attempt.ts';
import { isPublicAddress } from '../../../lib/public-address.ts';
import { lookUpPublic } from '../../../lib/public-lookup.ts';
import { privateAddress } from './media-error.ts';

export interface AskOptions {
  /** The host is allowed whatever its address is. */
  open: boolean;
  signal: AbortSignal;
  idleMs: number;
  /** Called when nothing was sent for so long, also while connecting. */
  onIdle: () => void;
}

/**
 * Asks a stranger's server for a file, on a connection of its own and past every proxy. Unless it is open, only a public
 * address is connected to: it is checked in the look-up of the very connection, so that a name can't show one
 * address to a check and another to the connection.
 *
 * With node:http and not undici: of undici only version 8 survives a server that hangs up while its answer waits to be
 * written (nodejs/undici#5360), and that one wants Node 22.
 */
export function ask(url: URL, { open, signal, idleMs, onIdle }: AskOptions): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // No look-up is made for an address.
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
    // Not every end is an error: an answer that asks to speak another protocol is none.
    request.once('close', () => reject(Object.assign(new Error('No answer'), { code: 'ECONNRESET' })));
    request.once('response', (response) => {
      // Whatever becomes of it, a fault has a listener.
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
