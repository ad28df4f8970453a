import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import type { Dialect } from './dialect.ts';
import { nameComponents } from './openapi-components.ts';

const DESCRIPTION: Record<Dialect['name'], string> = {
  specification:
    'Asynchronous operations answer a JSON array of task IDs; poll `/v1/tasks/{task_id}` until FINISHED or ERROR. Under `/gcore` the same operations speak the dialect of the official clients.',
  client:
    'The dialect of the official clients: asynchronous operations answer `{"tasks": [...]}`, and a rule names one remote group or null.',
};

/** Serves the OpenAPI document of one base address, made from the schemas of its routes. */
export async function documentApi(app: FastifyInstance, dialect: Dialect): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Tradewind', version: '1', description: DESCRIPTION[dialect.name] },
      servers: [{ url: dialect.prefix || '/' }],
      components: {
        securitySchemes: {
          apikey: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: 'The word `apikey`, one space, the API token.',
          },
        },
      },
      security: [{ apikey: [] }],
    },
    stripBasePath: true,
  });
  app.get('/openapi.json', { config: { access: 'public' }, schema: { hide: true } }, async () =>
    nameComponents(app.swagger()),
  );
}
