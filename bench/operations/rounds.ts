import type { LoadJob } from '../load/job.ts';
import type { Load } from '../load/load.ts';
import { cpuMicros } from '../support/process-cpu.ts';
import { TOKEN } from '../support/product.ts';
import { median } from '../support/statistics.ts';
import type { MeasuredRequest } from './operation.ts';

export interface Rounds {
  rounds: number;
  ms: number;
  warmUpMs: number;
  connections: number;
}

interface Server {
  pid: number;
  port: number;
}

/** A server, and what it is asked. */
export interface Asked {
  server: Server;
  request: MeasuredRequest;
}

/** Medians over the rounds. */
export interface Side {
  requestsPerSecond: number;
  p50: number;
  p99: number;
  /** CPU time of the server process alone, per request. */
  cpuMicros: number;
}

export interface Comparison {
  name: string;
  product: Side;
  /** What it is compared with. */
  other: Side;
  /** Median of each round's ratio of requests per second. */
  ratio: number;
  /** The smallest and the largest of them. */
  spread: readonly [number, number];
}

/** They take turns, so that other load on the machine affects both, and alternate in who goes first. */
export async function compare(
  name: string,
  sides: { product: Asked; other: Asked },
  load: Load,
  rounds: Rounds,
): Promise<Comparison> {
  const once = async ({ server, request }: Asked, ms: number): Promise<Side> => {
    const before = cpuMicros(server.pid);
    const result = await load.run(jobFor(request, [server.port], ms, rounds.connections));
    const used = cpuMicros(server.pid) - before;
    await request.reset?.();
    const { requests, seconds, p50, p99 } = result;
    return { requestsPerSecond: requests / seconds, p50, p99, cpuMicros: used / requests };
  };
  await once(sides.product, rounds.warmUpMs);
  await once(sides.other, rounds.warmUpMs);
  const product: Side[] = [];
  const other: Side[] = [];
  const steps = [
    async () => product.push(await once(sides.product, rounds.ms)),
    async () => other.push(await once(sides.other, rounds.ms)),
  ];
  for (let round = 0; round < rounds.rounds; round++) {
    for (const step of steps) await step();
    steps.reverse();
  }
  const ratios = product.map(
    ({ requestsPerSecond }, round) => requestsPerSecond / (other[round]?.requestsPerSecond ?? Number.NaN),
  );
  const spread = [Math.min(...ratios), Math.max(...ratios)] as const;
  return { name, product: medians(product), other: medians(other), ratio: median(ratios), spread };
}

function medians(sides: readonly Side[]): Side {
  const of = (key: keyof Side) => median(sides.map((side) => side[key]));
  return {
    requestsPerSecond: of('requestsPerSecond'),
    p50: of('p50'),
    p99: of('p99'),
    cpuMicros: of('cpuMicros'),
  };
}

/** The floor gets the same bytes, including the credentials, and only reads what it needs. */
export function jobFor(request: MeasuredRequest, ports: readonly number[], ms: number, connections: number): LoadJob {
  return {
    ports,
    connections,
    ms,
    method: request.method,
    paths: request.paths,
    headers: {
      authorization: `apikey ${TOKEN}`,
      ...(request.body && { 'content-type': 'application/json' }),
    },
    ...(request.body && { body: JSON.stringify(request.body) }),
    ...(request.count !== undefined && { count: request.count }),
  };
}
