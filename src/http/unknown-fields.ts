import type { ErrorObject } from 'ajv';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { type FieldProblem, InvalidError } from '../lib/errors.ts';
import { hooks } from './route-hooks.ts';
import { closestField, fieldOf, relevantErrors, unknownText } from './validation-texts.ts';

const HEADER = 'tradewind-ignored';
const STRICT = 'tradewind-strict';
/** Names in the header and the logs. A body may have thousands. */
const MOST_NAMED = 50;
const LONGEST_NAME = 200;
/** What can stand in a header without quotes (RFC 9651). */
const TOKEN = /^[A-Za-z*][\w!#$%&'*+.^`|~:/-]*$/;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The contract closes the body: unknown fields are refused at every base address. */
    closedBody?: boolean;
  }
}

/** A field of a body that nobody knows, and the name that was most likely meant. */
interface Ignored {
  field: string;
  meant: string | undefined;
}

/** Bodies that may have unknown fields, with those that were taken out of them. */
const openBodies = new WeakMap<object, Ignored[]>();

/**
 * Makes routes that are registered after this ignore fields of bodies that they don't know, as the contract has it, and name
 * them in a header. With `Tradewind-Strict: true`, or by the setting, they are refused as at the other base address.
 */
export function ignoreUnknownFields(app: FastifyInstance, { strict }: { strict: boolean }): void {
  app.addHook('onRoute', (route) => {
    if (!route.schema?.body || !mayBeOpen(route)) return;
    route.preValidation = [open, ...hooks(route.preValidation)];
    route.onSend = [name, ...hooks(route.onSend)];
  });

  function open(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
    const { body } = request;
    const given = request.headers[STRICT];
    const isStrict = given === undefined ? strict : given === 'true';
    if (!isStrict && typeof body === 'object' && body !== null) openBodies.set(body, []);
    const isOdd = given !== undefined && given !== 'true' && given !== 'false';
    done(isOdd ? new InvalidError({ 'Tradewind-Strict': ['Must be true or false.'] }) : undefined);
  }

  function name(
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: null, payload: unknown) => void,
  ): void {
    const ignored = ignoredOf(request);
    if (ignored.length > 0) void reply.header(HEADER, ignored.map(item).join(', '));
    done(null, payload);
  }
}

/** Whether the contract leaves open what else the bodies of this route hold. Our own operations are in no contract. */
export function mayBeOpen({ url, config }: Pick<RouteOptions, 'url' | 'config'>): boolean {
  return !config?.closedBody && !url.includes('/tradewind/');
}

/** Returns the first unknown fields that the request's body had. */
export function ignoredOf({ body }: Pick<FastifyRequest, 'body'>): readonly Ignored[] {
  return takenOutOf(body) ?? [];
}

function takenOutOf(body: unknown): Ignored[] | undefined {
  return typeof body === 'object' && body !== null ? openBodies.get(body) : undefined;
}

/** Returns what to say of those that resemble a known one, where the body is refused for something else. */
export function misspelt(body: unknown): FieldProblem[] {
  return (takenOutOf(body) ?? [])
    .filter(({ meant }) => meant !== undefined)
    .map(({ field, meant }) => ({ field, message: unknownText('field', meant) }));
}

/** An item of a list (RFC 9651), with the name that was meant as its parameter. */
function item({ field, meant }: Ignored): string {
  return meant === undefined ? text(field) : `${text(field)};meant=${text(meant)}`;
}

const text = (name: string) => (TOKEN.test(name) ? name : `"${encodeURI(name.toWellFormed())}"`);

/**
 * Takes unknown fields out of an open body, where the validator has found some. Returns whether there were any: then the
 * body has to be validated again.
 */
export function takeOutUnknown(body: unknown, errors: ErrorObject[]): boolean {
  const ignored = takenOutOf(body);
  if (!ignored) return false;
  let found = false;
  for (const error of relevantErrors(errors)) {
    if (error.keyword !== 'additionalProperties') continue;
    const name = String(error.params.additionalProperty);
    const holder = at(body, error.instancePath);
    if (!holder || !Object.hasOwn(holder, name)) continue;
    delete holder[name];
    found = true;
    if (ignored.length >= MOST_NAMED) continue;
    const field = fieldOf(error);
    if (field.length > LONGEST_NAME) continue;
    ignored.push({ field, meant: closestField(error) });
  }
  return found;
}

/** Returns the object at a JSON pointer. */
function at(body: unknown, pointer: string): Record<string, unknown> | undefined {
  let value = body;
  for (const part of pointer.split('/').slice(1)) {
    value = (value as Record<string, unknown> | null)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}
