import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { EMPTY_AS_ABSENT } from '../lib/legacy.ts';
import { version } from '../lib/own-program.ts';
import { areaOf, type Dialect } from './dialect.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { withErrors } from './openapi-errors.ts';
import { type RequestTraits, traitsOf, withOpenBodies, withRequestHeaders } from './openapi-requests.ts';
import { fixedDocument } from './reference-page.ts';

type Json = unknown;

/** Says what the server reads, and only at one of the base addresses. */
const [EMPTY_MARK] = Object.keys(EMPTY_AS_ABSENT);
const DATA = new Set(['examples', 'example', 'default', 'enum', 'const']);

/**
 * Moves every schema that has a `title` to the components of the document, and leaves a reference in its
 * place. The routes themselves use whole schemas, which validate faster.
 * @throws Error if two different schemas have the same title
 */
export function nameComponents<T extends object>(document: T): T {
  const named = new Map<string, { text: string; schema: Json }>();

  function walk(node: Json): Json {
    if (Array.isArray(node)) return node.map(walk);
    if (typeof node !== 'object' || node === null) return node;
    const copy = Object.fromEntries(
      Object.entries(node)
        .filter(([key, value]) => !isErrorText(node, key, value) && key !== EMPTY_MARK)
        // Examples and other data are not schemas, even if they look like one.
        .map(([key, value]) => [key, DATA.has(key) ? value : walk(value)]),
    );
    const { title } = copy;
    if (typeof title !== 'string' || !isSchema(copy)) return copy;
    const text = JSON.stringify(copy);
    const known = named.get(title);
    if (known && known.text !== text) throw new Error(`Two different schemas are called ${title}`);
    if (!known) named.set(title, { text, schema: copy });
    return { $ref: `#/components/schemas/${title}` };
  }

  const { components, ...rest } = document as { components?: object };
  const walked = walk(rest) as object;
  const schemas = Object.fromEntries(
    [...named].sort(([a], [b]) => a.localeCompare(b)).map(([name, { schema }]) => [name, schema]),
  );
  return { ...walked, components: { ...components, schemas } } as T;
}

/** `rule` beside a pattern is the text of its error, and not a keyword of JSON Schema. */
function isErrorText(node: object, key: string, value: Json): boolean {
  return key === 'rule' && typeof value === 'string' && 'pattern' in node;
}

function isSchema(node: object): boolean {
  return 'type' in node || 'anyOf' in node || 'oneOf' in node || 'enum' in node;
}

/**
 * The groups of operations in the order in which a reader meets them: what is built in the cloud and what it
 * is built from, then AI tasks, then accounts.
 */
export const TAGS: { name: string; description: string }[] = [
  { name: 'Tasks', description: 'Long changes and their progress. Poll a task until FINISHED or ERROR.' },
  { name: 'Lookup', description: 'Tasks, resources and customers of all accounts that the caller manages.' },
  { name: 'Kubernetes clusters', description: 'Clusters, their pools and their configuration.' },
  { name: 'Kubernetes', description: 'The versions and flavors that clusters can have.' },
  { name: 'Security groups', description: 'Which traffic may reach and leave a port.' },
  { name: 'Instances', description: 'Virtual and bare metal machines, and their network ports.' },
  { name: 'Placement groups', description: 'Instances on the same host, or on different ones.' },
  { name: 'Networks', description: 'Networks and subnets.' },
  {
    name: 'Ports',
    description: 'Connections of instances to networks, with their addresses and security groups.',
  },
  {
    name: 'Floating IPs',
    description: 'Public addresses that are assigned to a port and can be moved to another.',
  },
  {
    name: 'Routers',
    description: 'Connect subnets with each other and with the external network. Floating IPs need one.',
  },
  {
    name: 'Reserved fixed IPs',
    description: 'Ports that keep their address, regardless of the instance that uses them.',
  },
  {
    name: 'Load balancers',
    description: 'Addresses that spread traffic over members: listeners, pools, L7 policies.',
  },
  { name: 'Volumes', description: 'Disks.' },
  { name: 'Snapshots', description: 'Copies of volumes at one point in time.' },
  { name: 'Snapshot schedules', description: 'Snapshots that are taken and deleted in time.' },
  { name: 'Pricing', description: 'What a resource would cost, before it is created.' },
  { name: 'Costs', description: 'What the account used, and what that costs.' },
  { name: 'Budgets', description: 'What accounts and projects may spend in a month.' },
  { name: 'Invoices', description: 'Invoices of months, credit notes, payments and VAT.' },
  { name: 'File shares', description: 'Shared folders for many machines.' },
  { name: 'SSH keys', description: 'Public keys that are installed on new machines.' },
  { name: 'Secrets', description: 'Certificates with their keys, and what else listeners need.' },
  { name: 'DDoS protection', description: 'Templates of protection profiles.' },
  { name: 'Logging', description: 'Where the logs of clusters can be sent.' },
  { name: 'Projects', description: 'Groups that keep the resources of an account apart.' },
  { name: 'Quotas', description: 'How much an account may have, and how much it has.' },
  { name: 'User actions', description: 'Who changed what, and when.' },
  { name: 'Regions', description: 'Where resources can be created, and what is offered there.' },
  { name: 'Flavors', description: 'Sizes of machines.' },
  { name: 'Images', description: 'What machines boot from.' },
  { name: 'AI tasks', description: 'Transcription and moderation of audio, video and pictures.' },
  { name: 'Logins', description: 'Tokens for people: issued for a password, refreshed every hour.' },
  { name: 'Second factors', description: 'What people show besides their passwords.' },
  { name: 'Single sign-on', description: 'Identity providers, with which people sign in instead of a password.' },
  { name: 'Users', description: 'People, the accounts they belong to and their roles there.' },
  { name: 'Clients', description: 'Accounts of a reseller.' },
  { name: 'Sellers', description: 'People who work for a reseller.' },
  { name: 'API tokens', description: 'Credentials for programs.' },
  { name: 'Features', description: 'Free and paid features of an account.' },
  { name: 'Notification settings', description: 'Which mail a reseller sends, and to whom.' },
  { name: 'Audit', description: 'Who did what, from where and with which token.' },
  { name: 'Events', description: 'What happens, as it happens.' },
  { name: 'Webhooks', description: 'Programs that are told of events.' },
  { name: 'Platform', description: 'How Tradewind itself is, for its administrator.' },
];

const DESCRIPTION: Record<Dialect['name'], string> = {
  specification:
    'Asynchronous operations answer a JSON array of task IDs; poll `/v1/tasks/{task_id}` until FINISHED or ERROR. Under `/gcore` the same operations speak the dialect of the official clients.',
  client:
    'The dialect of the official clients: asynchronous operations answer `{"tasks": [...]}`, and a rule names one remote group or null.',
};

/**
 * Serves the OpenAPI document of one base address, which is made from the schemas of its routes at the first request.
 */
export async function documentApi(app: FastifyInstance, dialect: Dialect): Promise<void> {
  const traits = new Map<string, RequestTraits>();
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tradewind',
        version,
        description: DESCRIPTION[dialect.name],
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: dialect.prefix || '/' }],
      tags: TAGS,
      components: {
        securitySchemes: {
          apikey: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: 'The word `apikey`, one space, the API token.',
          },
          bearer: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'The access token of a login.',
          },
        },
      },
      security: [{ apikey: [] }, { bearer: [] }],
    },
    stripBasePath: true,
    transform({ schema, url, route }) {
      const { operationId } = (schema ?? {}) as { operationId?: string };
      if (operationId !== undefined) traits.set(operationId, traitsOf(app, route, dialect));
      return { schema, url };
    },
  });
  let send: ReturnType<typeof fixedDocument> | undefined;
  app.get('/openapi.json', { config: { access: 'public' }, schema: { hide: true } }, (request, reply) => {
    send ??= fixedDocument('application/json; charset=utf-8', JSON.stringify(documented(app.swagger(), traits)));
    return send(request, reply);
  });
}

function documented(written: object, traits: ReadonlyMap<string, RequestTraits>): OpenApiDocument {
  const named = nameComponents(written) as unknown as OpenApiDocument;
  return inOrder(withErrors(withOpenBodies(withRequestHeaders(named, traits), traits), traits));
}

const AREAS = ['cloud', 'logging', 'streaming', 'iam', 'tradewind'];

/** Sorts by area and path, so that the document doesn't depend on the order in which routes are registered. */
function inOrder(document: OpenApiDocument): OpenApiDocument {
  const key = (path: string) => `${AREAS.indexOf(areaOf(path))} ${path}`;
  const paths = Object.entries(document.paths).sort(([a], [b]) => (key(a) < key(b) ? -1 : 1));
  return { ...document, paths: Object.fromEntries(paths) };
}
