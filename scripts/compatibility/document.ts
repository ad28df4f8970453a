import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenApiDocument, Operation } from '../../src/http/openapi-document.ts';
import { clientTable } from './clients.ts';
import { familiesNotServed } from './not-served.ts';
import { PUBLISHED, type PublishedOperation } from './published-operations.ts';
import { sourceOf } from './sources.ts';

export const COMPATIBILITY_FILE = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  '../../docs/compatibility.md',
);

const HEAD = `# Compatibility

Point a client that was written against the published contract at \`{host}/gcore\`. This table is made from the routes
(\`npm run openapi\`) and held true by a test. *Served* means: with the parameters, bodies, statuses and limits of the
contract, in the OpenAPI document at \`/gcore/openapi.json\`. In the tests [official and other clients](#clients) call them, and
one that sends what older clients send calls those that the Python SDK has no method for. *Unsupported* means: the path is there, and
always answers with an error that says why.

With the Python SDK it begins so, or with \`GCORE_BASE_URL\` and \`GCORE_API_KEY\` in the environment:

\`\`\`python
client = gcore.Gcore(base_url="http://127.0.0.1:8080/gcore", api_key="1000_3f…", cloud_project_id=1, cloud_region_id=1)
client.cloud.networks.create_and_poll(name="backend", create_router=False)
\`\`\`

Both Terraform providers take the address and the token from their block or from the environment (\`GCORE_API_ENDPOINT\` and
\`GCORE_PERMANENT_TOKEN\`, or \`GCORE_BASE_URL\` and \`GCORE_API_KEY\`). [examples/terraform](../examples/terraform) has a whole module for
each, and [how they get on with each resource](#clients) is below:

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

\`'list' object has no attribute 'tasks'\` means that \`/gcore\` is missing at the end of the base address.

[What is not served](#not-served) is at the end, by path. The name of an operation leads to the source file of its route.

What holds for every operation and may surprise a client:

- Fields of a body that nobody knows are ignored, as the contract leaves them open, and named in the answer:
  \`Tradewind-Ignored: vm_state, create_ruoter;meant=create_router\`. \`Tradewind-Strict: true\` with a request, or \`TRADEWIND_STRICT=true\` for
  the server, refuses them with 400 by name, as \`{host}/\` does. Bodies that the contract closes are always strict: reports of costs and
  usage, limit requests, price of a snapshot, creation of a file share; so are our own operations under \`/tradewind\`.
- An empty text in such a body counts as absent where the field may be null and no empty text fits: \`profile_template_name: ""\`.
- Unknown query parameters are refused with 400 by name; wrong types are never coerced. In reads, one without a value
  (\`listener_id=\`) counts as absent, as older clients send filters that they don't use.
- \`409\` has no side effect. Clients that repeat it by themselves do no harm.
- A quota that is used up answers 403 \`QuotaLimitExceed\`. The queue limit of AI tasks is no quota: it answers 400.
- \`Idempotency-Key\` (POST, PATCH) and \`If-Match\` (what has an \`ETag\`) are understood besides.
- Older clients call tags *metadata*, above all the library under the older Terraform provider. Creations of networks,
  subnets, security groups, volumes, snapshots, images, floating IPs and load balancers take \`metadata\` for \`tags\` (both only when they
  are the same). Answers show \`metadata\` as the list of tags (networks, subnets, security groups, floating IPs, load balancers), as an
  object (snapshots), or as an object with the list in \`metadata_detailed\` (volumes, images, instances). Lists that filter
  by tags take \`metadata_k\` (repeated, or a JSON array) and \`metadata_kv\` (JSON, or the same in single quotes); that of
  instances \`metadata_v\` (a JSON array) besides. Instances have \`instance_id\`, \`instance_name\`, \`instance_created\` and
  \`keypair_name\` as well. Listeners and pools take \`loadbalancer_id\` for \`load_balancer_id\`, in bodies and queries, and members
  show the \`instance_id\` that they were given. Nothing of this is under \`{host}/\`.
- Times of \`/cloud\` end in \`+0000\`; those of instances, ports, clusters, projects and SSH keys in \`Z\`, of user actions in \`+00:00\`.
  Those of tasks and file shares and \`created_on\` of regions are in UTC without saying so, as that library reads them. Those of \`/streaming\`
  and \`/iam\` end in \`Z\`.
- Accounts, users, tokens and pages under \`/iam\` have no null: a required text that there is none of is empty (\`exp_date\` of a token
  that never expires, \`name\`, \`phone\`), any other field is left out (\`next\`, \`previous\`, \`seller\`).
- Nobody logs in with anything but a password: \`auth_types\` are kept and shown, and not worked.
- \`{host}/\` without \`/gcore\` speaks the same operations with bare arrays of task IDs; see the README.
`;

/** Returns the document, from the operations that the client dialect serves. */
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

What the official Python SDK calls and what the published contract has besides, by path, where some of it is missing: these calls are 404, and
a Terraform configuration with such resources can't be applied. The last column names what is missing of families that are served. It is made from
the SDK and the routes. \`{p}/{r}\` stands for \`{project_id}/{region_id}\`.

Of what resellers have, the appearance of their control panel (\`/iam/reselling/settings\`) and a document of their operations
alone are left out: there is no control panel to show a logo, a colour or a link, and \`/openapi.json\` describes all operations.

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
  return `[${operationId}](../${sourceOf(operationId)})`;
}

function statusOf({ deprecated }: Operation, unsupported: boolean): string {
  if (unsupported) return '**unsupported**';
  return deprecated ? 'served, deprecated' : 'served';
}

/** The names of path parameters don't matter. */
function keyOf(method: string, url: string): string {
  return `${method.toUpperCase()} ${url.replace(/\{[^}]+\}/g, '{}')}`;
}
