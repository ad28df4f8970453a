import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SOON } from '../../test/support/http-client.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { createWorkTraces } from '../convergence/traces.ts';
import type { Sql } from '../db/database.ts';
import type { Span } from '../lib/tracing.ts';
import { createOtlpTracing } from './otlp.ts';
import { startTracing, tracingSettings } from './start.ts';

/** A span as OTLP has it in JSON. */
interface Sent {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: Record<string, unknown> }[];
  links?: { traceId: string; spanId: string }[];
  status: { code?: number; message?: string };
}

interface Receiver {
  url: string;
  /** What came, in this order. */
  requests: { path: string; type: string; body: Buffer }[];
  stop(): void;
}

async function openReceiver(): Promise<Receiver> {
  const requests: Receiver['requests'] = [];
  const server = http.createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    requests.push({ path: request.url ?? '', type: request.headers['content-type'] ?? '', body });
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

let receiver: Receiver;
beforeAll(async () => {
  receiver = await openReceiver();
});
afterAll(() => receiver.stop());

const span = (request: string): Span => ({
  name: 'GET /',
  kind: 'server',
  request,
  id: request,
  begunAt: Date.now() - 10,
  endedAt: Date.now(),
  attributes: {},
});

describe('a service with a receiver of traces', () => {
  let service: TestService;
  beforeAll(async () => {
    // The exporter reads its variables by itself, as in other programs.
    const settings = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=tests',
      TRADEWIND_TEST_API: 'true',
    };
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
    service = await startService(settings);
  });
  afterAll(async () => {
    await service.stop();
    vi.unstubAllEnvs();
  });

  const resources = () =>
    receiver.requests
      .filter(({ type }) => type === 'application/json')
      .flatMap(({ body }) => JSON.parse(body.toString()).resourceSpans);
  const spans = (): Sent[] =>
    resources().flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope: { spans: Sent[] }) => scope.spans));

  it('sends a trace from the request over its task to the calls of the backend', async () => {
    const calledBy = { trace: 'a'.repeat(32), span: 'b'.repeat(16) };
    const made = await service.http.request('POST', '/cloud/v1/volumes/1/1', {
      body: { name: 'traced', source: 'new-volume', size: 1 },
      headers: { traceparent: `00-${calledBy.trace}-${calledBy.span}-01` },
    });
    expect(made.status, made.text).toBe(200);
    expect(await service.http.task(made.body[0])).toMatchObject({ state: 'FINISHED' });
    const traceId = made.headers.get('x-request-id')?.replaceAll('-', '');
    const NAMES = ['POST /cloud/v1/volumes/:project_id/:region_id', 'task create_volume', 'converge volume'];
    const named = (name: string) => spans().find((one) => one.traceId === traceId && one.name === name);
    await vi.waitFor(() => {
      for (const name of NAMES) expect(named(name)).toBeDefined();
    }, SOON);
    const [request, task, call] = NAMES.map(named);
    expect(request?.parentSpanId ?? '').toBe('');
    expect(task?.parentSpanId).toBe(request?.spanId);
    expect(call?.parentSpanId).toBe(task?.spanId);
    expect(request?.links).toMatchObject([{ traceId: calledBy.trace, spanId: calledBy.span }]);
    const attributes = Object.fromEntries(request?.attributes.map(({ key, value }) => [key, value]) ?? []);
    expect(attributes).toMatchObject({
      'http.response.status_code': { intValue: 200 },
      'tradewind.operation': { stringValue: 'createVolume' },
      'tradewind.client_id': { intValue: 1 },
    });
    expect(resources()[0].resource.attributes).toEqual(
      expect.arrayContaining([
        { key: 'service.name', value: { stringValue: 'tradewind' } },
        { key: 'deployment.environment.name', value: { stringValue: 'tests' } },
      ]),
    );
    expect(receiver.requests.every(({ path }) => path === '/v1/traces')).toBe(true);
  });

  it('sends a task that somebody cancels', async () => {
    await service.http.post('/tradewind/v1/test/faults', { task: 'create_volume', do: { hold: true } });
    const made = await service.http.post('/cloud/v1/volumes/1/1', {
      name: 'never',
      source: 'new-volume',
      size: 1,
    });
    expect((await service.http.post(`/tradewind/v1/tasks/${made.body[0]}/cancel`)).status).toBe(200);
    const traceId = made.headers.get('x-request-id')?.replaceAll('-', '');
    await vi.waitFor(() => {
      const task = spans().find((one) => one.traceId === traceId && one.name === 'task create_volume');
      expect(task?.status).toMatchObject({ code: 2, message: expect.stringContaining('Cancelled by user') });
    }, SOON);
  });

  it('leaves probes out', async () => {
    await service.anonymous.get('/healthz');
    const { headers } = await service.http.get('/cloud/v1/regions');
    const traceId = headers.get('x-request-id')?.replaceAll('-', '');
    await vi.waitFor(() => expect(spans().map((one) => one.traceId)).toContain(traceId), SOON);
    expect(spans().filter(({ name }) => name.includes('healthz'))).toEqual([]);
  });
});

it('are sent as protobuf unless another protocol is asked for', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
  const request = crypto.randomUUID();
  const tracing = createOtlpTracing({ protocol: 'http/protobuf', ratio: 1 }, pino({ level: 'silent' }));
  tracing.record(span(request));
  await tracing.stop(20_000);
  vi.unstubAllEnvs();
  const sent = receiver.requests.find(({ type }) => type === 'application/x-protobuf');
  expect(sent?.body.includes(Buffer.from(request.replaceAll('-', ''), 'hex'))).toBe(true);
});

it('are lost with a warning if nobody takes them', async () => {
  const gone = await openReceiver();
  gone.stop();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', gone.url);
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '500');
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const tracing = createOtlpTracing({ protocol: 'http/json', ratio: 1 }, log);
  tracing.record(span(crypto.randomUUID()));
  await tracing.stop(20_000);
  vi.unstubAllEnvs();
  expect(lines.filter((line) => line.includes('Traces cannot be sent'))).toHaveLength(1);
});

it('have IDs that receivers take, whatever started them', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
  const begun = receiver.requests.length;
  const tracing = createOtlpTracing({ protocol: 'http/json', ratio: 1 }, pino({ level: 'silent' }));
  const task = { id: crypto.randomUUID(), type: 'adopt', state: 'FINISHED', error: null, seconds: 1 };
  const traces = createWorkTraces(tracing, {} as Sql);
  // Tasks of the first releases have none, and an operator may have written something else.
  for (const request_id of [null, 'none']) traces.ended({ ...task, request_id });
  await tracing.stop(20_000);
  vi.unstubAllEnvs();
  const bodies = receiver.requests.slice(begun).map(({ body }) => body.toString());
  const ids = bodies.flatMap((body) => [...body.matchAll(/"traceId":"([^"]*)"/g)].map(([, id]) => id));
  expect(ids).toEqual([expect.stringMatching(/^[\da-f]{32}$/), expect.stringMatching(/^[\da-f]{32}$/)]);
});

it('are off by default', async () => {
  expect(await startTracing(undefined, pino({ level: 'silent' }))).toBeUndefined();
});

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
it.each([
  [{}, undefined],
  [{ OTEL_TRACES_SAMPLER: 'always_on' }, undefined],
  [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }, undefined],
  [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, undefined],
  [ENDPOINT, { protocol: 'http/protobuf', ratio: 1 }],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, { protocol: 'http/protobuf', ratio: 1 }],
  [
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    { protocol: 'http/json', ratio: 1 },
  ],
  [
    { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
    { protocol: 'http/protobuf', ratio: 0.25 },
  ],
  [
    { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'always_off' },
    { protocol: 'http/protobuf', ratio: 0 },
  ],
])('with %j are sent as %j', (environment, settings) => {
  expect(tracingSettings(environment)).toEqual(settings);
});

it.each([
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'collector' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL'],
  [{ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER'],
  [{ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG'],
])('refuse %j', (environment, name) => {
  expect(() => tracingSettings(environment)).toThrow(name);
});
