import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenApiDocument, Operation } from '../../src/http/openapi-document.ts';
import { NOT_SERVED } from './not-served.ts';
import { PUBLISHED, type PublishedOperation } from './published-operations.ts';

export const COMPATIBILITY_FILE = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  '../../docs/compatibility.md',
);

const HEAD = `# Compatibility

Point a client that was written against the published contract at \`{host}/gcore\`. This table is made from the routes
(\`npm run openapi\`) and held true by a test. *Served* means: with the parameters, bodies, statuses and limits of the
contract, in the OpenAPI document at \`/gcore/openapi.json\`. A test client that sends what the official clients send
calls every one of them; the official clients themselves and the Terraform provider have not been run against it yet.

[Families that are not served](#not-served) are at the end.

What holds for every operation and may surprise a client:

- Unknown query parameters and unknown body fields are refused with 400 by name; wrong types are never coerced.
- \`409\` has no side effect. Clients that repeat it by themselves do no harm.
- A quota that is used up answers 403 \`QuotaLimitExceed\`. The queue limit of AI tasks is no quota: it answers 400.
- \`Idempotency-Key\` (POST, PATCH) and \`If-Match\` (what has an \`ETag\`) are understood besides.
- \`{host}/\` without \`/gcore\` speaks the same operations with bare arrays of task IDs; see the README.
`;

/** The document, from the operations that the client dialect serves. */
export function compatibilityDocument(document: OpenApiDocument): string {
  const served = new Map(
    Object.entries(document.paths).flatMap(([url, operations]) =>
      Object.entries(operations).map(([method, operation]) => [
        keyOf(method, url),
        { method, url, operation },
      ]),
    ),
  );
  const sections = Object.entries(PUBLISHED).map(([title, operations]) => {
    const rows = operations.flatMap(calls).map(({ method, url, note }) => {
      const key = keyOf(method, url);
      const found = served.get(key);
      served.delete(key);
      return rowOf(method, url, found?.operation, note);
    });
    return `## ${title}\n\n| operation | status | name | what differs |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  const own = [...served.values()].map(
    ({ method, url, operation }) =>
      `| \`${method.toUpperCase()} ${url}\` | ${operation.operationId} | ${operation.summary} |`,
  );
  const rest = `## Beyond the contract\n\n| operation | name | what it does |\n|---|---|---|\n${own.join('\n')}\n`;
  return [HEAD, ...sections, rest, notServed()].join('\n');
}

function notServed(): string {
  const rows = NOT_SERVED.map(
    ({ family, paths }) => `| ${family} | ${paths.map((each) => `\`${each}\``).join(', ')} |`,
  );
  return `## Not served\n\nCalls of these families are 404, and a Terraform configuration with such resources can't be applied:\n\n| family | paths below |\n|---|---|\n${rows.join('\n')}\n\nOf families that are served, what no table here names is missing as well: a floating IP's tags can't be changed, for one.\n`;
}

/** Whether every published operation is served, for whoever wants a yes or no. */
export function missingOperations(document: OpenApiDocument): string[] {
  const served = new Set(
    Object.entries(document.paths).flatMap(([url, operations]) =>
      Object.keys(operations).map((method) => keyOf(method, url)),
    ),
  );
  return Object.values(PUBLISHED)
    .flatMap((operations) => operations.flatMap(calls))
    .filter(({ method, url }) => !served.has(keyOf(method, url)))
    .map(({ method, url }) => `${method} ${url}`);
}

function calls({ call, notes }: PublishedOperation): { method: string; url: string; note: string }[] {
  const url = call.slice(call.indexOf('/'));
  const methods = call.slice(0, call.indexOf('/')).trim().split(', ');
  return methods.map((method) => ({ method, url, note: notes?.[method] ?? '' }));
}

function rowOf(method: string, url: string, operation: Operation | undefined, note: string): string {
  const status = operation ? `served${operation.deprecated ? ', deprecated' : ''}` : '**not offered**';
  return `| \`${method} ${url}\` | ${status} | ${operation?.operationId ?? ''} | ${note} |`;
}

/** Names of path parameters are a matter of taste. */
function keyOf(method: string, url: string): string {
  return `${method.toUpperCase()} ${url.replace(/\{[^}]+\}/g, '{}')}`;
}
