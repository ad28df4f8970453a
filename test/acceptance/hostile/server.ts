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
  /** Sends a request and returns its status, and the CPU time in milliseconds that the server used for it. */
  measure(request: Sent): Promise<{ cpuMs: number; status: number }>;
}

const REPORTER = fileURLToPath(new URL('report-cpu.mjs', import.meta.url));

/**
 * Starts an API that serves nobody else. Measures CPU time, not elapsed time, since the machine has other
 * work.
 */
export async function measuredServer(settings: Record<string, string>): Promise<MeasuredServer> {
  const server = await serve(settings, ['--role', 'api'], ['--import', REPORTER]);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  async function used(): Promise<number> {
    server.child.send('used');
    const [{ user, system }] = (await once(server.child, 'message')) as [NodeJS.CpuUsage];
    return (user + system) / 1_000;
  }

  return {
    ...server,
    async measure({ method, path, headers = {}, body }) {
      const before = await used();
      const status = await new Promise<number>((resolve, reject) => {
        const sent = http.request(server.url + path, { method, agent, headers }, (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
        });
        sent.on('error', reject).end(body);
      });
      return { cpuMs: (await used()) - before, status };
    },
  };
}
