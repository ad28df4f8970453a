import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { percentile } from '../support/statistics.ts';
import { type Answer, openConnection } from './connection.ts';
import { type LoadJob, type LoadResult, UNIQUE, uniqueText } from './job.ts';

// Several processes use one database, so the numbers don't start at zero.
let unique = randomInt(2 ** 32) * 2 ** 14;

/** Keeps every connection busy until the time is over or all requests are sent. */
async function run(job: LoadJob): Promise<LoadResult> {
  const requestText = requestTexts(job);
  const latencies: number[] = [];
  const refusals: number[] = [];
  let failure: string | undefined;
  let sent = 0;
  const sockets = await Promise.all(
    Array.from({ length: job.connections }, async (_, at) => {
      const lane = { answered: (_answer: Answer) => {} };
      const port = job.ports[at % job.ports.length] ?? 0;
      const socket = openConnection(port, (answer) => lane.answered(answer));
      await once(socket, 'connect');
      return { socket, lane };
    }),
  );
  const begun = performance.now();
  const end = begun + job.ms;
  await Promise.all(
    sockets.map(
      ({ socket, lane }) =>
        new Promise<void>((resolve, reject) => {
          let sentAt = 0;
          const next = () => {
            if (job.count === undefined ? performance.now() >= end : sent >= job.count) return resolve();
            sentAt = performance.now();
            socket.write(requestText(sent++));
          };
          lane.answered = ({ status, text }) => {
            const took = performance.now() - sentAt;
            if (status === 503 && job.refusedMs !== undefined) {
              refusals.push(took);
              return void setTimeout(next, Math.min(job.refusedMs, Math.max(0, end - performance.now())));
            }
            latencies.push(took);
            if (status >= 300) failure ??= text;
            next();
          };
          socket.once('error', reject);
          socket.once('close', () => reject(new Error('The server closed a connection')));
          next();
        }),
    ),
  );
  const seconds = (performance.now() - begun) / 1000;
  for (const { socket } of sockets) socket.removeAllListeners().destroy();
  return {
    requests: latencies.length,
    seconds,
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    p99: percentile(latencies, 0.99),
    refused: refusals.length,
    refusedP95: percentile(refusals, 0.95),
    ...(failure !== undefined && { failure }),
  };
}

/** Returns the bytes of the n-th request, prepared as far as possible. */
function requestTexts({ method, paths, headers, body }: LoadJob): (n: number) => string {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (body !== undefined) fields.push(`content-length: ${Buffer.byteLength(body)}\r\n`);
  const heads = paths.map(
    (path) => `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${fields.join('')}\r\n${body ?? ''}`,
  );
  const repeated = body?.includes(UNIQUE) === true;
  return (n) => {
    const text = heads[n % heads.length] ?? '';
    return repeated ? text.replaceAll(UNIQUE, uniqueText(unique++)) : text;
  };
}

process.on('message', async (job: LoadJob) => {
  try {
    process.send?.({ result: await run(job) });
  } catch (error) {
    process.send?.({ error: String(error) });
  }
});
