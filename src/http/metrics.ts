import { NotFoundError } from '../lib/errors.ts';
import { RequestDurations } from './request-durations.ts';
import type { Api } from './server.ts';

/** Measurements of this process and its work. */
export interface Metrics {
  /** Returns all metrics but those of requests, in the text format of Prometheus. */
  text(): Promise<string>;
  /** Whether other machines may read it. */
  open: boolean;
}

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;
/** A page in a local browser may point a name of its own to this machine and read the answer. */
const LOCAL_NAME = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

/**
 * Serves `/metrics` without a token. Unless it is open, only programs on this machine may read it: a request
 * from elsewhere, through a proxy or under another host name gets a 404.
 */
export function metricsRoute(app: Api, metrics: Metrics): void {
  const durations = measureRequests(app);
  app.get('/metrics', {
    config: { access: 'public' },
    schema: { hide: true },
    handler: async ({ socket, headers }, reply) => {
      const passedOn = headers.forwarded ?? headers['x-forwarded-for'] ?? headers['x-real-ip'];
      const local =
        LOOPBACK.test(socket.remoteAddress ?? '') &&
        LOCAL_NAME.test(headers.host ?? '') &&
        passedOn === undefined;
      if (!local && !metrics.open) throw new NotFoundError('Path', '/metrics');
      return reply.type(CONTENT_TYPE).send(`${await metrics.text()}\n${durations.text()}`);
    },
  });
}

function measureRequests(app: Api): RequestDurations {
  const durations = new RequestDurations();
  const known = new Map<string, (seconds: number) => void>();
  app.addHook('onResponse', (request, reply, done) => {
    // Unknown paths count as one route, since a stranger could otherwise create any number of series.
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
  return durations;
}
