import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as api from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import { version } from '../lib/own-program.ts';
import type { Span, Tracing, TracingSettings } from '../lib/tracing.ts';

const KINDS = { client: api.SpanKind.CLIENT, internal: api.SpanKind.INTERNAL, server: api.SpanKind.SERVER };
const SUCCESS = 0;

/** Sends traces by OTLP over HTTP. The exporter and the processor read their standard variables by themselves. */
export function createOtlpTracing({ protocol, ratio }: TracingSettings, log: Logger): Tracing {
  const exporter = protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
  // A span has the IDs that its request and its children imply.
  let next = { traceId: '', spanId: '' };
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'tradewind', 'service.version': version }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    idGenerator: { generateTraceId: () => next.traceId, generateSpanId: () => next.spanId },
    sampler: new TraceIdRatioBasedSampler(ratio),
    spanProcessors: [new BatchSpanProcessor(telling(exporter, log))],
  });
  const tracer = provider.getTracer('tradewind', version);
  return {
    record(span) {
      const traceId = span.request === undefined ? randomBytes(16).toString('hex') : traceIdOf(span.request);
      next = { traceId, spanId: span.id === undefined ? randomBytes(8).toString('hex') : spanIdOf(span.id) };
      const made = tracer.startSpan(
        span.name,
        {
          kind: KINDS[span.kind],
          startTime: span.begunAt,
          attributes: span.attributes,
          links: linksOf(span),
        },
        contextOf(span, traceId),
      );
      if (span.error !== undefined) made.setStatus({ code: api.SpanStatusCode.ERROR, message: span.error });
      made.end(span.endedAt);
    },
    async stop(withinMs) {
      const stopping = provider.shutdown().catch(() => {});
      await Promise.race([stopping, sleep(withinMs, undefined, { ref: false })]);
    },
  };
}

/** The ID of a request is a UUID; a trace with another one would make the receiver refuse all that is sent with it. */
function traceIdOf(request: string): string {
  const id = request.replaceAll('-', '');
  return /^[\da-f]{32}$/.test(id) ? id : createHash('sha256').update(request).digest('hex').slice(0, 32);
}

const spanIdOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 16);

function contextOf({ parent }: Span, traceId: string): api.Context {
  if (parent === undefined) return api.ROOT_CONTEXT;
  const spanContext = { traceId, spanId: spanIdOf(parent), traceFlags: api.TraceFlags.SAMPLED, isRemote: true };
  return api.trace.setSpanContext(api.ROOT_CONTEXT, spanContext);
}

/** A client's own trace is linked: the trace here has the ID of the request. */
function linksOf({ calledBy = '' }: Span): api.Link[] {
  const [, traceId, spanId] = /^00-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/.exec(calledBy) ?? [];
  return traceId && spanId ? [{ context: { traceId, spanId, traceFlags: api.TraceFlags.NONE } }] : [];
}

/** Says once that traces are lost, and when that is over. */
function telling(exporter: SpanExporter, log: Logger): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== SUCCESS;
        if (failed && !isFailing) log.warn({ err: result.error }, 'Traces cannot be sent, and are lost');
        if (!failed && isFailing) log.info('Traces are sent again');
        isFailing = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
