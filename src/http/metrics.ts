import type { Registry } from 'prom-client';
import { NotFoundError } from '../lib/errors.ts';
import { RequestDurations } from './request-durations.ts';
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
  const durations = new RequestDurations(registry);
  const known = new Map<string, (seconds: number) => void>();
  app.addHook('onResponse', (request, reply, done) => {
    // Unknown paths are one route, or a stranger could make as many as there are paths.
    const { method, routeOptions } = request;
    const route = request.is404 ? 'unknown' : (routeOptions.url ?? 'unknown');
    const key = `${method} ${route} ${reply.statusCode}`;
    let count = known.get(key);
    if (!count) {
      count = durations.newSeries({ method, route, status: String(reply.statusCode) });
      known.set(key, count);
    }
    count(reply.elapsedTime / 1_000);
    done();
  });
}
