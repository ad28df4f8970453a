import fs from 'node:fs';
import path from 'node:path';
import { type ResourceSteps, resourceTable } from './terraform.ts';

/**
 * What the tests found out about a client: `npm run clients` writes it, and a run with another result fails.
 */
export interface ClientResult {
  /** The client's name in the table. */
  client: string;
  /** The version that the tests install; */
  pinned?: string;
  /** else the version that the system had when this was written. */
  seen?: string;
  /** A sentence, with figures that are the same in every run. */
  passed: string;
  /** Operations that it called successfully, such as `GET /gcore/cloud/v1/projects`. */
  operations?: string[];
  /** By family: how many of its methods have an operation that is served, and how many there are: `33 of 36`. */
  families?: Record<string, string>;
  /** Of a Terraform provider, how each step went, by resource. */
  resources?: ResourceSteps;
}

/**
 * How many methods release 0.1.0 served, by family: `python test/clients/python/methods.py` made it from that
 * release's OpenAPI document.
 */
const EARLIER: Record<string, string> = JSON.parse(
  fs.readFileSync(path.join(import.meta.dirname, 'python-sdk-0.1.0.json'), 'utf8'),
);

const FOLDER = path.join(import.meta.dirname, 'clients');

export function clientResultFile(name: string): string {
  return path.join(FOLDER, `${name}.json`);
}

export function clientResult(name: string): ClientResult {
  return JSON.parse(fs.readFileSync(clientResultFile(name), 'utf8'));
}

export function clientTable(): string {
  const results = fs.readdirSync(FOLDER).map((file) => clientResult(path.basename(file, '.json')));
  const called = ({ operations = [] }: ClientResult) => operations.length;
  const rows = results
    .toSorted((a, b) => called(b) - called(a) || a.client.localeCompare(b.client))
    .map(
      (result) => `| ${result.client} | ${result.pinned ?? result.seen} | ${result.passed} | ${called(result) || ''} |`,
    );
  return `## Clients

What passed in the tests of this version. A run that sees anything else fails; \`npm run clients\` writes this anew.

| client | version | what passed | operations |
|---|---|---|--:|
${rows.join('\n')}

${terraformTables(results)}
${methodsTable()}`;
}

function terraformTables(results: ClientResult[]): string {
  const tables = results.flatMap(({ client, resources }) =>
    resources === undefined ? [] : [resourceTable(client, resources)],
  );
  return `### Terraform

By resource. *No drift* means that a plan after the creation is empty; so it is after each update and
replacement, and after an import into a state that lacks the resource. An empty cell is a step that a resource doesn't have. Where the owner of a fault is the
provider, no server can help it.

${tables.join('\n')}`;
}

function methodsTable(): string {
  const earlier = countsOf(EARLIER);
  const families = countsOf(clientResult('python-sdk').families ?? {});
  const others = new Map<string, number>();
  for (const [name, { served, all }] of families) {
    const area = name.startsWith('cloud.') ? name : name.replace(/\..*/, '');
    if (served === 0) others.set(area, (others.get(area) ?? 0) + all);
  }
  const rows = [...families].flatMap(([name, { served, all }]) =>
    served === 0 ? [] : [`| \`${name}\` | ${earlier.get(name)?.served ?? 0} | ${served} | ${all} |`],
  );
  const sum = (counts: typeof families, of: 'all' | 'served') =>
    [...counts.values()].reduce((total, count) => total + count[of], 0);
  return `Methods of the Python SDK whose operation is served, by family:

| family | 0.1.0 | now | of |
|---|--:|--:|--:|
${rows.join('\n')}
| all families | ${sum(earlier, 'served')} | ${sum(families, 'served')} | ${sum(families, 'all')} |

Not served at all: ${[...others].map(([area, all]) => `\`${area}\` ${all}`).join(', ')}.
`;
}

function countsOf(families: Record<string, string>): Map<string, { served: number; all: number }> {
  return new Map(
    Object.entries(families).map(([name, text]) => {
      const [served = 0, all = 0] = text.split(' of ').map(Number);
      return [name, { served, all }];
    }),
  );
}
