import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { version } from '../lib/version.ts';
import { areaOf } from './areas.ts';
import type { Dialect } from './dialect.ts';
import { fixedDocument } from './fixed-documents.ts';
import { nameComponents } from './openapi-components.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { withErrors } from './openapi-errors.ts';
import { type RequestTraits, traitsOf, withOpenBodies, withRequestHeaders } from './openapi-requests.ts';
import { TAGS } from './openapi-tags.ts';

const DESCRIPTION: Record<Dialect['name'], string> = {
  specification:
    'Asynchronous operations answer a JSON array of task IDs; poll `/v1/tasks/{task_id}` until FINISHED or ERROR. Under `/gcore` the same operations speak the dialect of the official clients.',
  client:
    'The dialect of the official clients: asynchronous operations answer `{"tasks": [...]}`, and a rule names one remote group or null.',
};

/**
 * Serves the OpenAPI document of one base address, which is made from the schemas of its routes at the first
 * request.
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
    send ??= fixedDocument(
      'application/json; charset=utf-8',
      JSON.stringify(documented(app.swagger(), traits)),
    );
    return send(request, reply);
  });
}

function documented(written: object, traits: ReadonlyMap<string, RequestTraits>): OpenApiDocument {
  const named = nameComponents(written) as unknown as OpenApiDocument;
  return inOrder(withErrors(withOpenBodies(withRequestHeaders(named, traits), traits), traits));
}

const AREAS = ['cloud', 'logging', 'streaming', 'iam', 'tradewind'];

/**
 * Sorts by area and path, so that the document doesn't depend on the order in which routes are registered.
 */
function inOrder(document: OpenApiDocument): OpenApiDocument {
  const key = (path: string) => `${AREAS.indexOf(areaOf(path))} ${path}`;
  const paths = Object.entries(document.paths).sort(([a], [b]) => (key(a) < key(b) ? -1 : 1));
  return { ...document, paths: Object.fromEntries(paths) };
}
