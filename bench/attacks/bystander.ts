import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../support/statistics.ts';
import type { Account } from './attacks.ts';

/** What somebody else notices. */
export interface Noticed {
  p95: number;
  /** From the answer of a change until a stream tells of it. */
  eventP95: number;
  refused: number;
  changes: number;
}

/** So that it is the server that is measured, and not a queue of our own. */
const PAUSE_MS = 5;
/** An event that hasn't come after so long counts as so late. */
const LATEST_MS = 30_000;

/**
 * One client with one request at a time: two reads and a change in turn, to the processes in turn, and a stream of events at each.
 * Goes on for that time, until so many changes are made.
 */
export async function watch(
  ports: readonly number[],
  account: Account,
  { ms, changes: atLeast }: { ms: number; changes: number },
): Promise<Noticed> {
  const { projectId, token } = account;
  const streams = await Promise.all(ports.map((port) => follow(port, token)));
  const times: number[] = [];
  const delays: Promise<number>[] = [];
  let [refused, changes] = [0, 0];
  const begun = performance.now();
  for (let n = 0; performance.now() - begun < ms || changes < atLeast; n++) {
    const port = ports[n % ports.length] as number;
    for (const path of [`/cloud/v1/securitygroups/${projectId}/1`, '/cloud/v1/tasks']) {
      times.push((await timed(port, token, 'GET', path)).ms);
    }
    // At the other process.
    const stream = streams[(n + 1) % streams.length] as Stream;
    const body = { description: `change ${n}` };
    const { ms: took, status, id } = await timed(port, token, 'PATCH', `/cloud/v1/projects/${projectId}`, body);
    times.push(took);
    changes++;
    if (status === 200) delays.push(stream.told(id));
    else refused++;
    await sleep(PAUSE_MS);
  }
  const waited = await Promise.all(delays);
  for (const stream of streams) stream.close();
  return { p95: percentile(times, 0.95), eventP95: percentile(waited, 0.95), refused, changes };
}

async function timed(port: number, token: string, method: string, path: string, body?: object) {
  const begun = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `apikey ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  const id = response.headers.get('x-request-id') ?? '';
  return { ms: performance.now() - begun, status: response.status, id };
}

interface Stream {
  /** Resolves with how long it takes until the event of that request has come. */
  told(requestId: string): Promise<number>;
  close(): void;
}

function follow(port: number, token: string): Promise<Stream> {
  const headers = { accept: 'text/event-stream', authorization: `apikey ${token}` };
  const told = new Set<string>();
  const waiting = new Map<string, () => void>();
  let rest = '';
  return new Promise((resolve, reject) => {
    const request = http.get({ port, path: '/tradewind/v1/events', headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`The stream answered ${response.statusCode}`));
      response.on('error', () => {});
      response.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const [, id] = /^data: .*"request_id":"([^"]+)"/.exec(line) ?? [];
          if (id === undefined) continue;
          told.add(id);
          waiting.get(id)?.();
        }
      });
      resolve({
        told(requestId) {
          const begun = performance.now();
          if (told.has(requestId)) return Promise.resolve(0);
          return new Promise((done) => {
            const late = setTimeout(() => done(LATEST_MS), LATEST_MS);
            waiting.set(requestId, () => {
              clearTimeout(late);
              done(performance.now() - begun);
            });
          });
        },
        close: () => request.destroy(),
      });
    });
    request.on('error', reject);
  });
}
