import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { DRY_RUN } from '../support/dry-runs.ts';
import { createHttpClient, type HttpClient } from '../support/http-client.ts';
import {
  type DocumentedOperation,
  documentedOperations,
  exampleBody,
  filledPath,
  parametersIn,
  requiredQuery,
} from '../support/openapi.ts';
import { createPossessions, type Possessions } from '../support/possessions.ts';
import { hostileBodies } from './hostile/bodies.ts';
import { largeBodies } from './hostile/large-bodies.ts';
import { largestBody, withOtherItems } from './hostile/largest-bodies.ts';
import { filled, type HostileRequest, MEBIBYTE } from './hostile/request.ts';
import { bodySchema, type Json, takeTheSame } from './hostile/schemas.ts';
import { type MeasuredServer, measuredServer, type Sent } from './hostile/server.ts';
import { FEW_SHAPES, HEADS, hostileQueries, OTHER_PATHS, SHAPES, UNREAD_SHAPES } from './hostile/shapes.ts';
import { build, type ServeProcess, serve } from './processes.ts';

/**
 * No request may block the server for all others. The worst requests go to each operation, and the CPU time
 * of the server is compared with that of an empty request: 0.25 ms on the author's machine, where the worst
 * took 17 ms. A server whose work grows with the square of the input takes seconds. A trial works in several turns of
 * the loop: it reads, changes, reports and reads again.
 */
const WORST_RATIO = 400;
/** Bodies that are tried out in the search for the largest one of an operation. */
const MOST_TRIALS = 60;
/** Any request may have to wait for compilation or garbage collection; what counts is the minimum. */
const MORE_TRIES = 4;

const TOKEN = '7_event-loop-secret';
const KNOWN = { authorization: `apikey ${TOKEN}` };
const operations = await documentedOperations();

let database: TestDatabase;
let server: MeasuredServer;
let worker: ServeProcess;
let http: HttpClient;
let possessions: Possessions;
let large: Record<string, Json>;
beforeAll(async () => {
  build();
  database = await createDatabase();
  const settings = {
    DATABASE_URL: database.url,
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_SIMULATION_SPEED: '1000',
    TRADEWIND_RATE_LIMIT: '0',
  };
  [server, worker] = await Promise.all([measuredServer(settings), serve(settings, ['--role', 'worker'])]);
  http = createHttpClient(server.url, TOKEN);
  possessions = createPossessions(http);
  await possessions.makeFor(operations);
  large = await largeBodies(http);
}, 120_000);
afterAll(async () => {
  await Promise.all([server?.end(), worker?.end()]);
  await database?.drop();
});

it('is held by no request that it accepts, however large, tried out or made', {
  timeout: 1_200_000,
}, async () => {
  const limit = (await costOfNothing()) * WORST_RATIO;
  const accepted: Cost[] = [];
  const refused: string[] = [];
  for (const of of operations.filter(isOwnCode)) {
    const costs = bodySchema(of) ? await costsOfLargest(of) : await costsWithoutBody(of);
    if (costs.length === 0) refused.push(of.operation.operationId);
    for (const { cpuMs, what } of costs) {
      expect.soft(cpuMs, `milliseconds of CPU time: ${what}`).toBeLessThan(limit);
    }
    accepted.push(...costs);
  }
  const worst = accepted.toSorted((one, other) => other.cpuMs - one.cpuMs).slice(0, 5);
  process.stderr.write(
    `${accepted.length} accepted requests (limit ${limit.toFixed()} ms); the worst:\n${worst
      .map(({ cpuMs, what }) => `  ${cpuMs.toFixed(1)} ms of CPU time: ${what}\n`)
      .join('')}Not accepted: ${refused.join(', ')}\n`,
  );
  expect(accepted.length).toBeGreaterThan(600);
});

it('is held by no request', { timeout: 300_000 }, async () => {
  const limit = (await costOfNothing()) * WORST_RATIO;
  let requests = 0;
  let worst: Cost = { cpuMs: 0, status: 0, what: '' };
  for (const request of hostileRequests()) {
    requests++;
    const cost = await costOf(request, Math.max(worst.cpuMs, 10));
    if (cost.cpuMs > worst.cpuMs) worst = cost;
    expect(cost.cpuMs, `milliseconds of CPU time: ${cost.what}`).toBeLessThan(limit);
  }
  process.stderr.write(
    `${requests} hostile requests; the worst took ${worst.cpuMs.toFixed(1)} ms of CPU time (limit ${limit.toFixed()} ms): ${worst.what}\n`,
  );
  expect(requests).toBeGreaterThan(3_000);
});

/** Both base addresses reach the same code; what needs no token is about small things. */
function isOwnCode({ prefix, path, method, operation }: DocumentedOperation): boolean {
  const twin = operations.some((of) => of.prefix === '' && of.path === path && of.method === method);
  return (prefix === '' || !twin) && operation.security?.length !== 0;
}

/** Finds the largest body that the operation accepts; measures it tried out, made, and with other items in its lists. */
async function costsOfLargest(of: DocumentedOperation): Promise<Cost[]> {
  const path = filledPath(of, possessions.of(of)) + requiredQuery(of, possessions.of(of));
  let trials = 0;
  const accepts = async (body: Json): Promise<boolean> => {
    if (++trials > MOST_TRIALS || JSON.stringify(body).length > MEBIBYTE) return false;
    return (await http.request(of.method, path, { body, headers: DRY_RUN })).status < 300;
  };
  const { operationId } = of.operation;
  const base = ownThings(large[operationId] ?? (exampleBody(of) as Json) ?? {});
  if (!(await accepts(base))) return [];
  const body = await largestBody(of, base, accepts);
  const costs = await costsOfBody(of, path, body);
  await settled();
  const other = operationId === 'updateSecurityGroup' ? await otherRules(path) : withOtherItems(of, body);
  return [...costs, ...(await costsOfBody(of, path, other))];
}

async function costsOfBody(of: DocumentedOperation, path: string, body: Json): Promise<Cost[]> {
  const text = JSON.stringify(body);
  const request = (what: string, headers: Record<string, string>) =>
    hostileRequest(
      of.method,
      path,
      of.title,
      { what: `${what} of ${text.length} bytes`, body: text, headers },
      KNOWN,
    );
  const tried = await costOf(request('a trial', DRY_RUN), 10);
  const made = await costOf(request('a change', {}), 10);
  return [tried, made].filter(({ status }) => status < 300);
}

async function costsWithoutBody(of: DocumentedOperation): Promise<Cost[]> {
  const path = filledPath(of, possessions.of(of)) + requiredQuery(of, possessions.of(of));
  const headers: Record<string, string> = of.method === 'GET' ? {} : DRY_RUN;
  const request = hostileRequest(of.method, path, of.title, { what: 'nothing', headers }, KNOWN);
  const cost = await costOf(request, 10);
  return cost.status < 300 ? [cost] : [];
}

/** Returns the largest exchange of the rules of a group. */
async function otherRules(path: string): Promise<Json> {
  const { body } = await http.get(path);
  const removed = body.security_group_rules
    .slice(0, 240)
    .map(({ id }: { id: string }) => ({ action: 'delete', security_group_rule_id: id }));
  const added = filled(240, (n) => ({
    action: 'create',
    direction: 'ingress',
    protocol: 'tcp',
    port_range_min: n + 10_000,
    port_range_max: n + 10_000,
  }));
  return { changed_rules: [...removed, ...added] };
}

/** Puts the ids of what the caller has where examples have others. */
function ownThings(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ownThings);
  const own = ([key, child]: [string, Json]): [string, Json] => [
    key,
    typeof child !== 'object' && key !== 'image_id' ? (possessions.values[key] ?? child) : ownThings(child),
  ];
  return Object.fromEntries(Object.entries(value).map(own));
}

async function settled(): Promise<void> {
  const open = async () => (await http.get('/cloud/v1/tasks?state=NEW&state=RUNNING&limit=1')).body.count;
  await expect.poll(open, { timeout: 60_000 }).toBe(0);
}

interface Hostile extends Sent {
  what: string;
}

interface Cost {
  cpuMs: number;
  status: number;
  what: string;
}

/** Repeats requests that seem too expensive, since one measurement may be bad luck. */
async function costOf({ what, ...request }: Hostile, enough: number): Promise<Cost> {
  let { cpuMs, status } = await server.measure(request);
  for (let tries = 0; cpuMs > enough && tries < MORE_TRIES; tries++) {
    const again = await server.measure(request);
    cpuMs = Math.min(cpuMs, again.cpuMs);
    // What can be made only once was refused now, and is no measurement of what is accepted.
    status = Math.max(status, again.status);
  }
  return { cpuMs, status, what: `${what} (${status})` };
}

/** Returns the median, which other load hardly affects. */
async function costOfNothing(): Promise<number> {
  const costs: number[] = [];
  for (let n = 0; n < 300; n++) {
    costs.push((await server.measure({ method: 'GET', path: '/healthz' })).cpuMs);
  }
  return costs.sort((a, b) => a - b)[150] ?? 0;
}

function* hostileRequests(): Generator<Hostile> {
  for (const of of operations) {
    const path = filledPath(of, possessions.of(of));
    for (const hostile of hostileTo(of)) {
      const query = hostile.query === undefined ? requiredQuery(of, possessions.of(of)) : `?${hostile.query}`;
      yield hostileRequest(of.method, path + query, of.title, hostile, KNOWN);
    }
    const body = SHAPES['a mebibyte of names'] ?? '';
    yield hostileRequest(of.method, path, of.title, { what: 'a mebibyte of nobody', body });
  }
  for (const path of OTHER_PATHS) {
    for (const head of HEADS) yield hostileRequest('GET', path, path, head);
    for (const hostile of hostileQueries([])) {
      yield hostileRequest('GET', `${path}?${hostile.query}`, path, hostile, KNOWN);
    }
  }
}

function* hostileTo(of: DocumentedOperation): Generator<HostileRequest> {
  // If both base addresses accept the same, the same code checks it.
  const twin = operations.find(
    ({ prefix, path, method }) => prefix === '' && path === of.path && method === of.method,
  );
  const again = of.prefix !== '' && twin !== undefined && takeTheSame(of, twin);
  yield* hostileQueries(again ? [] : parametersIn('query', of.operation).map(({ name }) => name));
  if (!bodySchema(of)) return;
  const first = operations.find(
    (one) => bodySchema(one) && one.prefix === of.prefix && one.method === of.method,
  );
  for (const [what, body] of Object.entries(SHAPES)) {
    if (UNREAD_SHAPES.includes(what) ? of === first : !again || FEW_SHAPES.includes(what))
      yield { what, body };
  }
  const right = large[of.operation.operationId];
  if (right !== undefined) yield { what: 'as much as is right', body: JSON.stringify(right) };
  if (!again) yield* hostileBodies(of, (exampleBody(of) ?? {}) as Json);
}

function hostileRequest(
  method: string,
  path: string,
  title: string,
  { what, body, headers }: HostileRequest,
  credentials: Record<string, string> = {},
): Hostile {
  const length = body === undefined ? undefined : Buffer.byteLength(body);
  const content = { 'content-type': 'application/json', 'content-length': String(length) };
  return {
    what: `${title}: ${what}`,
    method,
    path,
    headers: { ...credentials, ...(body !== undefined && content), ...headers },
    ...(body !== undefined && { body }),
  };
}
