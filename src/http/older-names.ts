import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InvalidError } from '../lib/errors.ts';
import { hooks } from './route-hooks.ts';

type Values = Record<string, unknown>;

/** Makes routes that are registered after this know fields by their older names, as `olderNameOf` marks them. */
export function knowOlderNames(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const ofBody = olderNames(route.schema?.body);
    const ofQuery = olderNames(route.schema?.querystring);
    if (ofBody.length + ofQuery.length === 0) return;
    const rename = ({ body, query }: FastifyRequest, _reply: unknown, done: (error?: Error) => void) => {
      const differing = [...renamed(body, ofBody), ...renamed(query, ofQuery)];
      const problems = differing.map(({ older, name }) => ({
        field: older,
        message: `Differs from ${name}, the newer name of this field; send only one of them.`,
      }));
      done(problems.length > 0 ? new InvalidError(problems) : undefined);
    };
    route.preValidation = [rename, ...hooks(route.preValidation)];
  });
}

interface OlderName {
  older: string;
  name: string;
}

function olderNames(schema: unknown): OlderName[] {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, Values> };
  return Object.entries(properties).flatMap(([older, { 'x-older-name-of': name }]) =>
    typeof name === 'string' ? [{ older, name }] : [],
  );
}

/** Renames what was given by an older name. Returns those that were given by both names, with different values. */
function renamed(given: unknown, names: readonly OlderName[]): OlderName[] {
  if (typeof given !== 'object' || given === null) return [];
  const values = given as Values;
  return names.filter(({ older, name }) => {
    if (!Object.hasOwn(values, older)) return false;
    const value = values[older];
    delete values[older];
    if (Object.hasOwn(values, name)) return !isDeepStrictEqual(value, values[name]);
    values[name] = value;
    return false;
  });
}
