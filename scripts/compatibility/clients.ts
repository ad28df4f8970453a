import fs from 'node:fs';
import path from 'node:path';

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
}

const FOLDER = path.join(import.meta.dirname, 'clients');
const NOT_RUN = "not run: the proxy of Go modules doesn't serve its module to our tests";

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
      (result) =>
        `| ${result.client} | ${result.pinned ?? result.seen} | ${result.passed} | ${called(result) || ''} |`,
    );
  return `## Clients

What passed in the tests of this version. A run that sees anything else fails; \`npm run clients\` writes this anew.

| client | version | what passed | operations |
|---|---|---|--:|
${rows.join('\n')}
| Official Go SDK | | ${NOT_RUN} | |
| Terraform provider | | ${NOT_RUN} | |
`;
}
