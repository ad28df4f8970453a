import type { FastifyInstance } from 'fastify';
import type { Tracing } from '../lib/tracing.ts';

/** Traces every request but those of probes. The tasks that a request starts belong to its trace. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, id, headers, principal } = request;
    const { url = 'unknown', schema } = routeOptions;
    if (schema?.hide) return done();
    const route = request.is404 ? 'unknown' : url;
    const endedAt = Date.now();
    const { statusCode } = reply;
    tracing.record({
      name: `${method} ${route}`,
      kind: 'server',
      request: id,
      id,
      begunAt: endedAt - reply.elapsedTime,
      endedAt,
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': statusCode,
        'tradewind.operation': schema?.operationId ?? '',
        ...(principal && { 'tradewind.client_id': principal.clientId }),
      },
      error: statusCode < 500 ? undefined : `answered ${statusCode}`,
      calledBy: headers.traceparent?.toString(),
    });
    done();
  });
}
