import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenApiDocument, Operation } from '../../src/http/openapi-document.ts';
import { clientTable } from './clients.ts';
import { familiesNotServed } from './not-served.ts';
import { PUBLISHED, type PublishedOperation } from './published-operations.ts';
import { sourceOf } from './sources.ts';

export const COMPATIBILITY_FILE = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  '../../docs/reference/compatibility.md',
);

const HEAD = `# Compatibility

Point a client that was written for the published contract at \`{host}/gcore\`. \`npm run openapi\` writes this page from the routes, and a
test keeps it true. *Served* means: with the parameters, bodies, statuses and limits of the contract, as in the OpenAPI document at
\`/gcore/openapi.json\`. Tests call the operations with [official and other clients](#clients); a client that sends what older clients send calls
those that the Python SDK has no method for. *Unsupported* means: the path exists, and always answers with an error that says why.
[What is not served](#not-served) is listed at the end. The name of an operation links to the source of its route.

Python SDK (or set \`GCORE_BASE_URL\` and \`GCORE_API_KEY\`):

\`\`\`python
client = gcore.Gcore(base_url="http://127.0.0.1:8080/gcore", api_key="1000_3f…", cloud_project_id=1, cloud_region_id=1)
client.cloud.networks.create_and_poll(name="backend", create_router=False)
\`\`\`

Terraform: both providers take the address and the token from their block, or from the environment (\`GCORE_API_ENDPOINT\` and
\`GCORE_PERMANENT_TOKEN\`, or \`GCORE_BASE_URL\` and \`GCORE_API_KEY\`). [examples/terraform](../../examples/terraform) has a complete module for
each. [Results for each resource](#clients) are below.

\`\`\`hcl
provider "gcore" { # version ~> 0.34.3
  api_endpoint        = "http://127.0.0.1:8080/gcore"
  permanent_api_token = "1000_3f…"
}
\`\`\`
\`\`\`hcl
provider "gcore" { # version 2.0.0-alpha.11
  base_url         = "http://127.0.0.1:8080/gcore"
  api_key          = "1000_3f…"
  cloud_project_id = 1
  cloud_region_id  = 1
}
\`\`\`

The error \`'list' object has no attribute 'tasks'\` means that the base address lacks \`/gcore\` at its end.

These rules hold for every operation and may surprise a client:

- Unknown fields of a body are ignored where the contract leaves the body open. The answer names them:
  \`Tradewind-Ignored: vm_state, create_ruoter;meant=create_router\`. To refuse them with 400, as \`{host}/\` does, send
  \`Tradewind-Strict: true\` or start the server with \`TRADEWIND_STRICT=true\`. Bodies that the contract closes are always strict: cost and
  usage reports, limit requests, the price of a snapshot, the creation of a file share. So are all operations under \`/tradewind\`.
- In such an open body, an empty string counts as absent if the field may be null and no empty string is valid: \`profile_template_name: ""\`.
- Unknown query parameters are refused with 400. Types are never coerced. In reads, a parameter without a value
  (\`listener_id=\`) counts as absent, because older clients send filters that they don't use.
- \`409\` has no side effect, so clients may safely repeat the request.
- A used-up quota answers 403 \`QuotaLimitExceed\`. The limit on AI tasks in the queue is not a quota and answers 400.
- \`Idempotency-Key\` (POST, PATCH) and \`If-Match\` (resources with an \`ETag\`) work here too.
- Older clients, above all the library under the older Terraform provider, call tags *metadata*. When creating networks,
  subnets, security groups, volumes, snapshots, images, floating IPs and load balancers, you may send \`metadata\` instead of \`tags\` (or both, if
  they are equal). Answers show \`metadata\` as the list of tags (networks, subnets, security groups, floating IPs, load balancers), as an
  object (snapshots), or as an object with the list in \`metadata_detailed\` (volumes, images, instances). Lists that filter
  by tags take \`metadata_k\` (repeated, or a JSON array) and \`metadata_kv\` (JSON, or the same in single quotes); the list of
  instances also takes \`metadata_v\` (a JSON array). Instances also have \`instance_id\`, \`instance_name\`, \`instance_created\` and
  \`keypair_name\`. Listeners and pools accept \`loadbalancer_id\` for \`load_balancer_id\`, in bodies and queries, and members
  show the \`instance_id\` that they were given. None of this exists under \`{host}/\`.
- Times of \`/cloud\` end in \`+0000\`; those of instances, ports, clusters, projects and SSH keys in \`Z\`, those of user actions in \`+00:00\`.
  Times of tasks and file shares, and \`created_on\` of regions, are UTC without an offset, as that library reads them. Times of \`/streaming\`
  and \`/iam\` end in \`Z\`.
- Accounts, users, tokens and pages under \`/iam\` contain no null. A required string with no value is returned as an empty string (\`exp_date\` of a
  token that never expires, \`name\`, \`phone\`). Any other field without a value is left out (\`next\`, \`previous\`, \`seller\`).
- Only password login works. \`auth_types\` is stored and returned but has no effect.
- \`{host}/\` without \`/gcore\` serves the same operations and answers with bare arrays of task IDs; see the README.
`;

/** Returns the document, from the operations that the client dialect serves. */
export function compatibilityDocument(document: OpenApiDocument): string {
  const served = new Map(
    Object.entries(document.paths).flatMap(([url, operations]) =>
      Object.entries(operations).map(([method, operation]) => [keyOf(method, url), { method, url, operation }]),
    ),
  );
  const sections = Object.entries(PUBLISHED).map(([title, operations]) => {
    const rows = operations.flatMap(calls).map((call) => {
      const key = keyOf(call.method, call.url);
      const found = served.get(key);
      served.delete(key);
      return rowOf(call, found?.operation);
    });
    return `## ${title}\n\n| operation | status | name | what differs |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  const own = [...served.values()].map(
    ({ method, url, operation }) =>
      `| \`${method.toUpperCase()} ${url}\` | ${linked(operation)} | ${operation.summary} |`,
  );
  const rest = `## Beyond the contract\n\n| operation | name | what it does |\n|---|---|---|\n${own.join('\n')}\n`;
  return [HEAD, clientTable(), ...sections, rest, notServed(document)].join('\n');
}

function notServed(document: OpenApiDocument): string {
  const served = servedIn(document);
  const published = Object.values(PUBLISHED).flatMap((operations) => operations.flatMap(calls));
  const families = familiesNotServed(published, (method, url) => served.has(keyOf(method, url)));
  const rows = families.map(
    ({ beginning, served: count, missing }) =>
      `| \`${beginning}\` | ${count} | ${count + missing.length} |${count === 0 ? '' : missing.map((call) => ` \`${shortened(call)}\``).join(',')} |`,
  );
  return `## Not served

This table lists, by path, the calls of the official Python SDK and of the published contract that are missing here. They answer 404, and a
Terraform configuration with such resources can't be applied. The last column names the missing calls of families that are partly served. \`{p}/{r}\` stands for \`{project_id}/{region_id}\`.

Two things of resellers are left out: the appearance of their control panel (\`/iam/reselling/settings\`), because there is no control panel, and a
document of their operations alone, because \`/openapi.json\` describes all operations.

| paths that begin with | served | of | missing |
|---|--:|--:|---|
${rows.join('\n')}
`;
}

function shortened(path: string): string {
  return path.replace('{project_id}/{region_id}', '{p}/{r}');
}

/** Returns the published operations that are not served. */
export function missingOperations(document: OpenApiDocument): string[] {
  const served = servedIn(document);
  return Object.values(PUBLISHED)
    .flatMap((operations) => operations.flatMap(calls))
    .filter(({ method, url }) => !served.has(keyOf(method, url)))
    .map(({ method, url }) => `${method} ${url}`);
}

function servedIn(document: OpenApiDocument): ReadonlySet<string> {
  return new Set(
    Object.entries(document.paths).flatMap(([url, operations]) =>
      Object.keys(operations).map((method) => keyOf(method, url)),
    ),
  );
}

interface Call {
  method: string;
  url: string;
  note: string;
  unsupported: boolean;
}

function calls({ call, notes, unsupported = false }: PublishedOperation): Call[] {
  const url = call.slice(call.indexOf('/'));
  const methods = call.slice(0, call.indexOf('/')).trim().split(', ');
  return methods.map((method) => ({ method, url, note: notes?.[method] ?? '', unsupported }));
}

function rowOf({ method, url, note, unsupported }: Call, operation: Operation | undefined): string {
  const status = operation ? statusOf(operation, unsupported) : '**not offered**';
  return `| \`${method} ${url}\` | ${status} | ${operation ? linked(operation) : ''} | ${note} |`;
}

/** Links the name to the file with the route. */
function linked({ operationId }: Operation): string {
  return `[${operationId}](../../${sourceOf(operationId)})`;
}

function statusOf({ deprecated }: Operation, unsupported: boolean): string {
  if (unsupported) return '**unsupported**';
  return deprecated ? 'served, deprecated' : 'served';
}

/** The names of path parameters don't matter. */
function keyOf(method: string, url: string): string {
  return `${method.toUpperCase()} ${url.replace(/\{[^}]+\}/g, '{}')}`;
}
