const NAME = 'tradewind_http_request_duration_seconds';
const HEAD = `# HELP ${NAME} Time from the headers of a request to the end of its answer\n# TYPE ${NAME} histogram\n`;
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
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
}

/**
 * A histogram that counts without checking and hashing labels again, and is written without creating objects.
 * The library's own took 5 % of the work of a cheap request, and 60 ms to show the figures of all routes.
 */
export class RequestDurations {
  readonly #series: Series[] = [];

  /** Returns a function that counts requests with these labels. Keep it: each call makes a new series. */
  newSeries(labels: { method: string; route: string; status: string }): (seconds: number) => void {
    const series: Series = { labels: labelText(labels), counts: BOUNDS.map(() => 0).concat(0), seconds: 0 };
    this.#series.push(series);
    return (seconds) => {
      let at = 0;
      while (seconds > (BOUNDS[at] ?? Number.POSITIVE_INFINITY)) at++;
      series.counts[at] = (series.counts[at] ?? 0) + 1;
      series.seconds += seconds;
    };
  }

  /** Returns all series in the text format of Prometheus. */
  text(): string {
    return this.#series.reduce((text, series) => text + textOf(series), HEAD);
  }
}

/** Each bucket includes the ones before it. */
function textOf({ labels, counts, seconds }: Series): string {
  let text = '';
  let total = 0;
  for (const [at, count] of counts.entries()) {
    total += count;
    text += `${NAME}_bucket{le="${LE[at]}",${labels}} ${total}\n`;
  }
  return `${text}${NAME}_sum{${labels}} ${seconds}\n${NAME}_count{${labels}} ${total}\n`;
}

function labelText(labels: object): string {
  const escaped = (value: string) =>
    value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');
}
