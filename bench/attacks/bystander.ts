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
    const mark = stream.count();
    const body = { description: `change ${n}` };
    const { ms: took, status } = await timed(port, token, 'PATCH', `/cloud/v1/projects/${projectId}`, body);
    times.push(took);
    changes++;
    if (status === 200) delays.push(stream.after(mark));
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
  return { ms: performance.now() - begun, status: response.status };
}

interface Stream {
  count(): number;
  /** Resolves with how long it takes until more than `mark` events have come. */
  after(mark: number): Promise<number>;
  close(): void;
}

function follow(port: number, token: string): Promise<Stream> {
  const headers = { accept: 'text/event-stream', authorization: `apikey ${token}` };
  let told = 0;
  let waiting: { mark: number; come: () => void }[] = [];
  return new Promise((resolve, reject) => {
    const request = http.get({ port, path: '/tradewind/v1/events', headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`The stream answered ${response.statusCode}`));
      response.on('error', () => {});
      response.setEncoding('utf8').on('data', (text: string) => {
        told += text.split('\nevent: ').length - 1;
        for (const { mark, come } of waiting) if (told > mark) come();
        waiting = waiting.filter(({ mark }) => told <= mark);
      });
      resolve({
        count: () => told,
        after(mark) {
          const begun = performance.now();
          if (told > mark) return Promise.resolve(0);
          return new Promise((done) => {
            const late = setTimeout(() => done(LATEST_MS), LATEST_MS);
            waiting.push({
              mark,
              come() {
                clearTimeout(late);
                done(performance.now() - begun);
              },
            });
          });
        },
        close: () => request.destroy(),
      });
    });
    request.on('error', reject);
  });
}
