import { NotFoundError } from '../lib/errors.ts';
import { withoutPrefix } from './dialect.ts';
import { RequestFigures } from './request-figures.ts';
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
  const figures = measureRequests(app);
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
      return reply.type(CONTENT_TYPE).send(`${await metrics.text()}\n${figures.text()}`);
    },
  });
}

/** Counts each operation once, whichever base address its request came to. */
function measureRequests(app: Api): RequestFigures {
  const figures = new RequestFigures();
  const known = new Map<string, (seconds: number, status: number) => void>();
  app.addHook('onResponse', (request, reply, done) => {
    const { url, method: methods } = request.routeOptions;
    // Unknown paths count as one route, since a stranger could otherwise create any number of series.
    const route = request.is404 ? 'unknown' : withoutPrefix(url ?? 'unknown');
    const method = request.is404 ? request.method : String(methods);
    const key = `${method} ${route}`;
    let count = known.get(key);
    if (!count) {
      count = figures.newSeries({ method, route });
      known.set(key, count);
    }
    count(reply.elapsedTime / 1_000, reply.statusCode);
    done();
  });
  return figures;
}
