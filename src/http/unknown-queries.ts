import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';

const NoQuery = Type.Object({}, { additionalProperties: false });

/** Makes operations without query parameters refuse unknown ones by name, like all others. */
export function refuseUnknownQueries(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.schema && !route.schema.querystring) route.schema = { ...route.schema, querystring: NoQuery };
  });
}
