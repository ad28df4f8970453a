import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { type Shot, UNIQUE } from './attacks.ts';

/** What the attacker's process is told. */
export interface Orders {
  ports: readonly number[];
  token: string;
  shots: Shot[];
  atOnce: number;
}

/** How many answers there were of each status. */
export type Statuses = Record<string, number>;

/** Who is refused as too much comes back after so long, and not as a loop. */
const REFUSED_MS = 50;

/*
 * The process that attacks: it has a processor of its own where there are several, so that what slows the bystander
 * is the server. Sends requests until it is told to stop, and answers with what it got.
 */
const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
let running = true;

process.on('message', (message: Orders | 'stop') => {
  if (message === 'stop') running = false;
  else void attack(message);
});

async function attack({ ports, token, shots, atOnce }: Orders): Promise<void> {
  const statuses: Statuses = {};
  let sent = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (running) {
        const number = sent++;
        const shot = shots[number % shots.length] as Shot;
        const port = ports[number % ports.length] as number;
        const status = await fire(shot, port, token);
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status === '429' || status === '503') await new Promise((go) => setTimeout(go, REFUSED_MS));
      }
    }),
  );
  agent.destroy();
  process.send?.(statuses);
  process.disconnect();
}

function fire({ method, path, headers, body }: Shot, port: number, token: string): Promise<string> {
  const own = (text: string) => text.replaceAll(UNIQUE, randomUUID());
  const sent = {
    authorization: `apikey ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, own(value)])),
  };
  return new Promise((resolve) => {
    const request = http.request({ port, method, path, headers: sent, agent }, (response) => {
      response.resume();
      response.once('end', () => resolve(String(response.statusCode)));
      response.once('error', () => resolve('broken'));
    });
    request.once('error', () => resolve('broken'));
    request.end(body === undefined ? undefined : own(JSON.stringify(body)));
  });
}
