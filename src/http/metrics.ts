import { NotFoundError } from '../lib/errors.ts';
import { withoutPrefix } from './dialect.ts';
import type { Api } from './server.ts';

const DURATIONS = 'tradewind_http_request_duration_seconds';
const REQUESTS = 'tradewind_http_requests_total';
const ANSWERS = 'tradewind_http_answers_total';
const HEADS = {
  durations: headOf(DURATIONS, 'Time from the headers of a request to the end of its answer', 'histogram'),
  requests: headOf(REQUESTS, 'Requests by the first digit of the status of their answer', 'counter'),
  answers: headOf(ANSWERS, 'Answers by status', 'counter'),
};
/** Each costs a line for every route: all of them together stay below a megabyte. */
const BOUNDS = [0.0025, 0.01, 0.05, 0.25, 1, 5];
const LE = [...BOUNDS, '+Inf'];

interface Series {
  /** In the text format of Prometheus. */
  labels: string;
  /**
   * How many requests ended within each bound, but not within the one before; the last number is those beyond
   * all bounds.
   */
  counts: number[];
  seconds: number;
  /** By the first digit of the status. */
  classes: number[];
}

/**
 * Counts requests without checking and hashing labels again, and is written without creating objects. The library's own
 * histogram took 5 % of the work of a cheap request, and 60 ms to show the figures of all routes. Durations are not
 * divided by status, nor statuses by route, or there would be ten megabytes of them.
 */
export class RequestFigures {
  readonly #series: Series[] = [];
  readonly #answers = new Map<number, number>();

  /** Returns a function that counts requests with these labels. Keep it: each call makes a new series. */
  newSeries(labels: { method: string; route: string }): (seconds: number, status: number) => void {
    const counts = LE.map(() => 0);
    const series: Series = { labels: labelText(labels), counts, seconds: 0, classes: [0, 0, 0, 0, 0, 0] };
    this.#series.push(series);
    return (seconds, status) => {
      let at = 0;
      while (seconds > (BOUNDS[at] ?? Number.POSITIVE_INFINITY)) at++;
      series.counts[at] = (series.counts[at] ?? 0) + 1;
      series.seconds += seconds;
      const digit = Math.floor(status / 100);
      series.classes[digit] = (series.classes[digit] ?? 0) + 1;
      this.#answers.set(status, (this.#answers.get(status) ?? 0) + 1);
    };
  }

  /** Returns all series in the text format of Prometheus. */
  text(): string {
    const durations = this.#series.reduce((text, series) => text + durationsOf(series), HEADS.durations);
    const requests = this.#series.reduce((text, series) => text + requestsOf(series), HEADS.requests);
    const answers = [...this.#answers].reduce(
      (text, [status, count]) => `${text}${ANSWERS}{status="${status}"} ${count}\n`,
      HEADS.answers,
    );
    return `${durations}\n${requests}\n${answers}`;
  }
}

/** Each bucket includes the ones before it. */
function durationsOf({ labels, counts, seconds }: Series): string {
  let text = '';
  let total = 0;
  for (const [at, count] of counts.entries()) {
    total += count;
    text += `${DURATIONS}_bucket{le="${LE[at]}",${labels}} ${total}\n`;
  }
  return `${text}${DURATIONS}_sum{${labels}} ${seconds}\n${DURATIONS}_count{${labels}} ${total}\n`;
}

function requestsOf({ labels, classes }: Series): string {
  let text = '';
  for (const [digit, count] of classes.entries()) {
    if (count > 0) text += `${REQUESTS}{${labels},status="${digit}xx"} ${count}\n`;
  }
  return text;
}

function headOf(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function labelText(labels: object): string {
  const escaped = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');
}

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
        LOOPBACK.test(socket.remoteAddress ?? '') && LOCAL_NAME.test(headers.host ?? '') && passedOn === undefined;
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
