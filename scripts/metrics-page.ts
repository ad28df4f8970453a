import path from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { watchBackends } from '../src/convergence/backend-health.ts';
import { startComparing } from '../src/convergence/comparing.ts';
import { createMeasures } from '../src/convergence/measures.ts';
import { RequestFigures } from '../src/http/metrics.ts';
import { createRequestMeasures } from '../src/requests/measures.ts';
import { createMetrics, createSharedFigures } from '../src/start/metrics.ts';
import { createAiMetrics } from '../src/streaming/ai-tasks/work/queue.ts';
import { createSendingMeasures } from '../src/tradewind/webhooks/sending/queue.ts';

export const METRICS_FILE = path.join(import.meta.dirname, '../docs/reference/metrics.md');

const HEAD = `# Metrics

\`npm run openapi\` writes this page from the code. [operators.md](../operators.md#monitoring) says who may read \`GET /metrics\`.
Beside these, each process has \`process_*\` and \`nodejs_*\`.
`;

export async function metricsPage(): Promise<string> {
  const [requests, own, worker, shared] = [new Registry(), new Registry(), new Registry(), new Registry()];
  const nothing = { backends: { all: () => [] }, log: pino({ level: 'silent' }), registry: worker };
  // Nobody asks for values, so there is nothing to read them from.
  const absent = undefined as never;
  createRequestMeasures(requests);
  const events = { figures: absent };
  createMetrics({
    database: absent,
    worker: absent,
    clocks: {} as never,
    folder: '',
    events,
    registry: own,
    open: false,
  });
  for (const create of [createMeasures, createAiMetrics, createSendingMeasures]) create(worker);
  const watching = await watchBackends({ ...nothing, changed: () => {} });
  const comparing = startComparing({
    ...nothing,
    database: absent,
    everyMs: 1_000_000,
    leftAlone: async () => () => true,
  });
  await Promise.all([watching.stop(), comparing.stop()]);
  createSharedFigures(shared);

  const figures = new RequestFigures();
  figures.newSeries({ method: '', route: '' })(0, 200);
  const families = figures.text().matchAll(/# HELP (\S+) (.*)\n#.*\n\w+\{(.*)\}/g);
  const ofRequests = [...families].map(([, name = '', help = '', sample = '']) => {
    const labelNames = [...sample.matchAll(/(\w+)="/g)].map(([, label]) => String(label));
    return rowOf({ name, help, labelNames: labelNames.filter((label) => label !== 'le') });
  });
  return [
    HEAD,
    sectionOf('Processes that serve the API', [...ofRequests, ...rowsOf(requests)]),
    sectionOf('Every process', rowsOf(own)),
    sectionOf('Workers', rowsOf(worker)),
    sectionOf('All processes together', rowsOf(shared)),
  ].join('\n');
}

function sectionOf(title: string, rows: string[]): string {
  return `## ${title}\n\n| metric | labels | what |\n|---|---|---|\n${rows.join('')}`;
}

function rowsOf(registry: Registry): string[] {
  return registry
    .getMetricsAsArray()
    .filter(({ name }) => name.startsWith('tradewind_'))
    .map(rowOf);
}

function rowOf({ name, help, labelNames = [] }: { name: string; help: string; labelNames?: string[] }): string {
  return `| \`${name}\` | ${labelNames.map((label) => `\`${label}\``).join(', ')} | ${help} |\n`;
}
