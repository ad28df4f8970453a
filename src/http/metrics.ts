import { Histogram, type Registry } from 'prom-client';
import { NotFoundError } from '../lib/errors.ts';
import type { Api } from './server.ts';

/** What is measured of this process and its work. */
export interface Metrics {
  /** Takes what requests are measured by. */
  registry: Registry;
  /** Everything, in the text form of Prometheus. */
  text(): Promise<string>;
  /** Whether other machines may read it. */
  open: boolean;
}

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/**
 * `/metrics`, without a token. Unless it is open, only programs on this machine may read it: a request from elsewhere, or one
 * that a proxy passed on, finds nothing there.
 */
export function metricsRoute(app: Api, metrics: Metrics): void {
  measureRequests(app, metrics.registry);
  app.get('/metrics', {
    config: { access: 'public' },
    schema: { hide: true },
    handler: async ({ socket, headers }, reply) => {
      const passedOn = headers.forwarded ?? headers['x-forwarded-for'] ?? headers['x-real-ip'];
      const local = LOOPBACK.test(socket.remoteAddress ?? '') && passedOn === undefined;
      if (!local && !metrics.open) throw new NotFoundError('Path', '/metrics');
      return reply.type(CONTENT_TYPE).send(await metrics.text());
    },
  });
}

function measureRequests(app: Api, registry: Registry): void {
  const durations = new Histogram({
    name: 'tradewind_http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  // Finding a histogram by its labels costs more than counting in it.
  const known = new Map<string, ReturnType<typeof durations.labels>>();
  app.addHook('onResponse', (request, reply, done) => {
    // Unknown paths are one route, or a stranger could make as many as there are paths.
    const { method, routeOptions } = request;
    const route = request.is404 ? 'unknown' : (routeOptions.url ?? 'unknown');
    const key = `${method} ${route} ${reply.statusCode}`;
    let histogram = known.get(key);
    if (!histogram) {
      histogram = durations.labels(method, route, String(reply.statusCode));
      known.set(key, histogram);
    }
    histogram.observe(reply.elapsedTime / 1_000);
    done();
  });
}
