import type { IncomingMessage } from 'node:http';
import { requestOutside } from './outside-request.ts';

export interface Posting {
  headers: Record<string, string>;
  body: string;
  /** Whether the host is allowed whatever its address is. */
  open: boolean;
  signal: AbortSignal;
  /** Bytes of the answer's body to read; none by default. */
  most?: number;
}

export interface Posted {
  status: number;
  headers: IncomingMessage['headers'];
  /** The beginning of the answer's body. */
  text: string;
}

/** Sends a text to a stranger's server. Once the answer has begun, it counts, even if its body breaks off. */
export async function post(url: URL, { headers, body, open, signal, most = 0 }: Posting): Promise<Posted> {
  const response = await answerTo(url, { headers, body, open, signal });
  const text = await beginningOf(response, most);
  // The rest of the answer doesn't matter.
  response.destroy();
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

function answerTo(url: URL, { headers, body, open, signal }: Posting): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sending = requestOutside(url, {
      method: 'POST',
      signal,
      open,
      refusal: () => new Error('The host is not on the public internet'),
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    });
    sending.on('error', reject);
    // A request may end without an answer and without an error, for example if the server wants to switch protocols.
    sending.once('close', () => reject(new Error('No response')));
    sending.once('response', (response) => {
      // Errors always need a listener, whatever happens to the answer.
      response.on('error', () => {});
      resolve(response);
    });
    sending.end(body);
  });
}

async function beginningOf(response: IncomingMessage, most: number): Promise<string> {
  if (most === 0) return '';
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= most) break;
    }
  } catch {
    // What has arrived is enough.
  }
  return Buffer.concat(chunks).subarray(0, most).toString();
}
