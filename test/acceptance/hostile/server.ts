import { once } from 'node:events';
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import { type ServeProcess, serve } from '../processes.ts';

export interface Sent {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface MeasuredServer extends ServeProcess {
  /** Sends a request and returns its status, and the CPU time in milliseconds of the longest turn of the event loop. */
  measure(request: Sent): Promise<{ turnMs: number; status: number }>;
  /** Returns the CPU time in milliseconds of work that is always the same. */
  reference(): Promise<number>;
}

const REPORTER = fileURLToPath(new URL('report-turns.mjs', import.meta.url));

/**
 * Starts an API that serves nobody else. Measures CPU time, not elapsed time, since the machine has other
 * work.
 */
export async function measuredServer(settings: Record<string, string>): Promise<MeasuredServer> {
  const server = await serve(settings, ['--role', 'api'], ['--import', REPORTER]);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  async function ask(what: 'longest turn' | 'reference'): Promise<number> {
    server.child.send(what);
    const [microseconds] = (await once(server.child, 'message')) as [number];
    return microseconds / 1_000;
  }

  return {
    ...server,
    async measure({ method, path, headers = {}, body }) {
      await ask('longest turn');
      const status = await new Promise<number>((resolve, reject) => {
        const sent = http.request(server.url + path, { method, agent, headers }, (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
        });
        sent.on('error', reject).end(body);
      });
      return { turnMs: await ask('longest turn'), status };
    },
    reference: () => ask('reference'),
  };
}
