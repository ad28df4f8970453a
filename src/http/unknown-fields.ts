import type { ErrorObject } from 'ajv';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { type FieldProblem, InvalidError } from '../lib/errors.ts';
import { hooks } from './route-hooks.ts';
import { closestField, fieldOf, relevantErrors, unknownText } from './validation-texts.ts';

const HEADER = 'tradewind-ignored';
const STRICT = 'tradewind-strict';
/** Names in the header and the logs. A body may have thousands. */
const MOST_NAMED = 50;
/** Characters of the header. Proxies take no more than a few thousand in all. */
const LONGEST_HEADER = 2_000;
/** What can stand in a header without quotes (RFC 9651). */
const TOKEN = /^[A-Za-z*][\w!#$%&'*+.^`|~:/-]*$/;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The contract closes the body: unknown fields are refused at every base address. */
    closedBody?: boolean;
  }
  interface FastifyRequest {
    /** The first fields of the body that nobody knows. */
    ignored: readonly { field: string }[] | undefined;
  }
}

/** A field that nobody knows, and the name that was most likely meant. */
interface Unknown {
  field: string;
  meant: string | undefined;
}

interface TakenOut {
  /** The first of them. */
  named: Unknown[];
  /** Whether the next one didn't fit into the header. Those after it aren't looked at: there may be thousands. */
  full: boolean;
}

/** Bodies that may have unknown fields. */
const openBodies = new WeakMap<object, TakenOut>();

/**
 * Makes routes that are registered after this ignore fields of bodies that they don't know, as the contract has it, and name
 * them in a header. With `Tradewind-Strict: true`, or by the setting, they are refused as at the other base address.
 */
export function ignoreUnknownFields(app: FastifyInstance, { strict }: { strict: boolean }): void {
  app.decorateRequest('ignored');
  app.addHook('onRoute', (route) => {
    if (!route.schema?.body || !mayBeOpen(route)) return;
    route.preValidation = [open, ...hooks(route.preValidation)];
    route.onSend = [name, ...hooks(route.onSend)];
  });

  function open(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
    const { body } = request;
    const given = request.headers[STRICT];
    const isStrict = given === undefined ? strict : given === 'true';
    if (!isStrict && typeof body === 'object' && body !== null) {
      const takenOut = { named: [], full: false };
      openBodies.set(body, takenOut);
      request.ignored = takenOut.named;
    }
    const isOdd = given !== undefined && given !== 'true' && given !== 'false';
    done(isOdd ? new InvalidError({ 'Tradewind-Strict': ['Must be true or false.'] }) : undefined);
  }

  function name(
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: null, payload: unknown) => void,
  ): void {
    const { named = [] } = takenOutOf(request.body) ?? {};
    if (named.length > 0) void reply.header(HEADER, headerOf(named));
    done(null, payload);
  }
}

/** Whether the contract leaves open what else the bodies of this route hold. */
export function mayBeOpen({ url, config }: Pick<RouteOptions, 'url' | 'config'>): boolean {
  return !config?.closedBody && !isOurOwn(url);
}

/** Whether an operation is our own. Those are in no contract, and strict at both base addresses. */
export const isOurOwn = (url: string): boolean =>
  url.includes('/tradewind/') || url.endsWith('/cloud/v1/request_log');

/** Whether the body may have unknown fields. */
export function isOpen(body: unknown): boolean {
  return takenOutOf(body) !== undefined;
}

function takenOutOf(body: unknown): TakenOut | undefined {
  return typeof body === 'object' && body !== null ? openBodies.get(body) : undefined;
}

/** Returns what to say of those that resemble a known one, where the body is refused for something else. */
export function misspelt(body: unknown): FieldProblem[] {
  const { named = [] } = takenOutOf(body) ?? {};
  return named
    .filter(({ meant }) => meant !== undefined)
    .map(({ field, meant }) => ({ field, message: unknownText('field', meant) }));
}

/** A list of RFC 9651. The name that was meant is a parameter. */
function headerOf(named: readonly Unknown[]): string {
  const text = (name: string) => (TOKEN.test(name) ? name : `"${encodeURI(name.toWellFormed())}"`);
  return named
    .map(({ field, meant }) => (meant === undefined ? text(field) : `${text(field)};meant=${text(meant)}`))
    .join(', ');
}

/**
 * Takes unknown fields out of an open body, where the validator has found some. Returns whether there were any: then the
 * body has to be validated again.
 */
export function takeOutUnknown(body: unknown, errors: ErrorObject[]): boolean {
  const takenOut = takenOutOf(body);
  if (!takenOut) return false;
  let found = false;
  for (const error of unknownToAllForms(relevantErrors(errors))) {
    const name = String(error.params.additionalProperty);
    const holder = at(body, error.instancePath);
    if (!holder || !Object.hasOwn(holder, name)) continue;
    delete holder[name];
    found = true;
    note(takenOut, fieldOf(error), () => closestField(error));
  }
  return found;
}

/** Where a union can't be decided, each form complains of what only the others know. */
function unknownToAllForms(errors: ErrorObject[]): ErrorObject[] {
  const unknown = errors.filter(({ keyword }) => keyword === 'additionalProperties');
  if (new Set(unknown.map(({ schemaPath }) => schemaPath)).size === 1) return unknown;
  const forms = new Map<string, Set<string>>();
  const complaints = new Map<string, number>();
  const nameOf = ({ instancePath, params }: ErrorObject) => `${instancePath}/${params.additionalProperty}`;
  for (const error of unknown) {
    const known = forms.get(error.instancePath) ?? new Set();
    forms.set(error.instancePath, known.add(error.schemaPath));
    complaints.set(nameOf(error), (complaints.get(nameOf(error)) ?? 0) + 1);
  }
  return unknown.filter((error) => complaints.get(nameOf(error)) === forms.get(error.instancePath)?.size);
}

/** Has a field named in the header that was taken out of an open body for another reason. */
export function noteIgnored(body: unknown, field: string): void {
  const takenOut = takenOutOf(body);
  if (takenOut) note(takenOut, field);
}

/** `closest` is dear, and only asked for those that are named. */
function note(takenOut: TakenOut, field: string, closest?: () => string | undefined): void {
  if (takenOut.full) return;
  const next = { field, meant: closest?.() };
  const { named } = takenOut;
  takenOut.full = named.length === MOST_NAMED || headerOf([...named, next]).length > LONGEST_HEADER;
  if (!takenOut.full) named.push(next);
}

/** Returns the object at a JSON pointer. */
export function at(body: unknown, pointer: string): Record<string, unknown> | undefined {
  let value = body;
  for (const part of pointer.split('/').slice(1)) {
    value = (value as Record<string, unknown> | null)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}
