import http from 'node:http';
import { percentile } from '../support/statistics.ts';

export interface Request {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface Client {
  /** @throws Error unless the answer is 2xx */
  call(request: Request): Promise<string>;
  close(): void;
}

/** Keeps connections, unless the server closes them after each answer. */
export function createClient(port: number): Client {
  const agent = new http.Agent({ keepAlive: true });
  return {
    call: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        const request = http.request({ agent, host: '127.0.0.1', port, method, path, headers }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          response.once('error', reject).once('end', () => {
            const { statusCode = 500 } = response;
            if (statusCode < 300) resolve(text);
            else reject(new Error(`${method} ${path} was answered ${statusCode}: ${text.slice(0, 300)}`));
          });
        });
        request.once('error', reject);
        request.setHeader('content-length', Buffer.byteLength(body ?? ''));
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}

export interface Times {
  requestsPerSecond: number;
  p50: number;
  p95: number;
  /** Requests that weren't answered with 2xx. */
  failed: number;
}

/** Has `connections` requests under way all the time, until the time is over or `next` has no more. */
export async function timesOf(
  { call }: Client,
  connections: number,
  ms: number,
  next: () => Request | undefined,
  answered: (text: string) => void = () => {},
): Promise<Times> {
  const latencies: number[] = [];
  let failed = 0;
  const begun = performance.now();
  async function lane(): Promise<void> {
    for (let at = begun; at < begun + ms; ) {
      const request = next();
      if (!request) return;
      await call(request).then(answered, () => failed++);
      const now = performance.now();
      latencies.push(now - at);
      at = now;
    }
  }
  await Promise.all(Array.from({ length: connections }, lane));
  return {
    requestsPerSecond: (latencies.length * 1000) / (performance.now() - begun),
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    failed,
  };
}
