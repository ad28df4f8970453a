import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';

const NoQuery = Type.Object({}, { additionalProperties: false });

/** An operation that takes no query parameters refuses them by name, like one that takes others. */
export function refuseUnknownQueries(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.schema && !route.schema.querystring) route.schema = { ...route.schema, querystring: NoQuery };
  });
}
