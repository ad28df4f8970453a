import type { IncomingMessage } from 'node:http';
import { attempt } from '../../../lib/attempt.ts';
import { requestOutside } from '../../../lib/outside-request.ts';
import { privateAddress } from './media-error.ts';

export interface AskOptions {
  /** The host is allowed whatever its address. */
  open: boolean;
  signal: AbortSignal;
  idleMs: number;
  /** Called when nothing was sent for that long, including while connecting. */
  onIdle: () => void;
}

/** Requests a file from a stranger's server. */
export function ask(url: URL, { open, signal, idleMs, onIdle }: AskOptions): Promise<IncomingMessage> {
  const target = new URL(url);
  target.username = '';
  target.password = '';
  return new Promise((resolve, reject) => {
    const request = requestOutside(target, {
      open,
      refusal: privateAddress,
      signal,
      timeout: idleMs,
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
    request.end();
  });
}

function credentialsOf({ username, password }: URL): { authorization?: string } {
  if (username === '') return {};
  const decoded = (text: string) => attempt(() => decodeURIComponent(text)) ?? text;
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}
