import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree } from '../start/process-tree.ts';
import { createApi } from '../support/api.ts';
import { startDatabase } from '../support/database.ts';
import { cpuMicros } from '../support/process-cpu.ts';
import { type Product, startProduct, TOKEN } from '../support/product.ts';
import { markdownTable, shown } from '../support/table.ts';

/** Listeners open at once while they connect. */
const AT_ONCE = 50;
/** By then, idle memory is given back. */
const REST_MS = 85_000;

/** Measures what listeners of events cost an API process: memory, at rest, and for each event. */
export async function measureEvents({ quick }: { quick: boolean }): Promise<string> {
  const counts = quick ? [0, 100] : [0, 1_000];
  const [writes, restMs] = quick ? [100, 2_000] : [500, 20_000];
  const database = await startDatabase();
  const rows: string[][] = [];
  try {
    for (const count of counts) {
      const product = await startProduct({ DATABASE_URL: database.url }, { role: 'api' });
      try {
        rows.push(await measured(product, { count, writes, restMs }));
      } finally {
        await product.stop();
      }
    }
  } finally {
    await database.stop();
  }
  return markdownTable(
    [
      'listeners',
      'MB RSS',
      'CPU ms a second at rest',
      'CPU µs a write',
      'events told',
      'ms from the answer until all have it',
    ],
    rows,
  );
}

async function measured(
  { port, pid }: Product,
  { count, writes, restMs }: { count: number; writes: number; restMs: number },
): Promise<string[]> {
  const api = createApi(port);
  const listeners = await connected(port, count);
  await sleep(REST_MS);
  const before = cpuMicros(pid);
  await sleep(restMs);
  const atRest = (cpuMicros(pid) - before) / restMs;
  const { rssMegabytes } = processTree(pid);
  const begun = cpuMicros(pid);
  for (let number = 0; number < writes; number++) {
    await api.call('PATCH', '/cloud/v1/projects/1', { description: `change ${number}` });
  }
  const answered = performance.now();
  while (listeners.told() < count * writes) await sleep(1);
  const late = performance.now() - answered;
  const each = (cpuMicros(pid) - begun) / writes;
  const figures = [rssMegabytes, atRest, each, listeners.told(), count === 0 ? Number.NaN : late];
  listeners.close();
  return [String(count), ...figures.map(shown)];
}

/** Opens streams of server-sent events, and counts what they are told. */
async function connected(port: number, count: number) {
  const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const headers = { accept: 'text/event-stream', authorization: `apikey ${TOKEN}` };
  let told = 0;
  const open = () =>
    new Promise<http.ClientRequest>((resolve, reject) => {
      const request = http.get({ port, path: '/tradewind/v1/events', headers, agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`The stream answered ${response.statusCode}`));
        response.setEncoding('utf8').on('data', (text: string) => {
          told += text.split('\nevent: ').length - 1;
        });
        response.on('error', () => {});
        resolve(request);
      });
      request.on('error', reject);
    });
  const requests: http.ClientRequest[] = [];
  for (let at = 0; at < count; at += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - at) }, open);
    requests.push(...(await Promise.all(some)));
  }
  return {
    told: () => told,
    close() {
      for (const request of requests) request.destroy();
    },
  };
}
