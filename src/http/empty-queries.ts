import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hooks } from './route-hooks.ts';
import { isOurOwn } from './unknown-fields.ts';

/**
 * Makes reads that are registered after this take query parameters without a value as absent: older clients send
 * filters that they don't use as `name=`. A change is refused as before, since it would reach further than was asked;
 * so is a read that can't do without the parameter, and one of our own, which no older client sends.
 */
export function takeEmptyAsAbsent(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { properties, required = [] } = (route.schema?.querystring ?? {}) as {
      properties?: object;
      required?: string[];
    };
    if (route.method !== 'GET' || !properties || isOurOwn(route.url)) return;
    const names = Object.keys(properties).filter((name) => !required.includes(name));
    if (names.length === 0) return;
    const dropEmpty = ({ query }: FastifyRequest, _reply: unknown, done: () => void) => {
      const given = query as Record<string, string | string[] | undefined>;
      for (const name of names) {
        const value = given[name];
        if (value === '') delete given[name];
        if (Array.isArray(value) && value.includes('')) {
          const left = value.filter((text) => text !== '');
          if (left.length > 0) given[name] = left;
          else delete given[name];
        }
      }
      done();
    };
    route.preValidation = [dropEmpty, ...hooks(route.preValidation)];
  });
}
