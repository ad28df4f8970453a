import type { LoadJob } from '../load/job.ts';
import type { Load } from '../load/load.ts';
import { cpuMicros } from '../support/process-cpu.ts';
import { TOKEN } from '../support/product.ts';
import { median } from '../support/statistics.ts';
import type { MeasuredRequest, Operation } from './operation.ts';
import type { Plan } from './plan.ts';

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
  target: number;
  statements: number;
  product: Side;
  floor: Side;
  /** Median of each round's ratio of requests per second. */
  ratio: number;
}

/** Product and floor take turns, so that other load on the machine affects both. */
export async function compare(
  { name, target }: Operation,
  { request, plan }: { request: MeasuredRequest; plan: Plan },
  servers: { product: Server; floor: Server },
  load: Load,
  rounds: Rounds,
): Promise<Comparison> {
  const once = async (server: Server, ms: number): Promise<Side> => {
    const before = cpuMicros(server.pid);
    const result = await load.run(jobFor(request, [server.port], ms, rounds.connections));
    const used = cpuMicros(server.pid) - before;
    await request.reset?.();
    const { requests, seconds, p50, p99 } = result;
    return { requestsPerSecond: requests / seconds, p50, p99, cpuMicros: used / requests };
  };
  await once(servers.product, rounds.warmUpMs);
  await once(servers.floor, rounds.warmUpMs);
  const product: Side[] = [];
  const floor: Side[] = [];
  for (let round = 0; round < rounds.rounds; round++) {
    product.push(await once(servers.product, rounds.ms));
    floor.push(await once(servers.floor, rounds.ms));
  }
  const ratios = product.map(
    ({ requestsPerSecond }, round) => requestsPerSecond / (floor[round]?.requestsPerSecond ?? Number.NaN),
  );
  return {
    name,
    target,
    statements: plan.statements.length,
    product: medians(product),
    floor: medians(floor),
    ratio: median(ratios),
  };
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
