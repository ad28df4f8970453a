import { isDeepStrictEqual } from 'node:util';
import type { ErrorObject } from 'ajv';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteOptions } from 'fastify';
import { type FieldProblem, InvalidError } from '../lib/errors.ts';
import { closestField, fieldOf, relevantErrors, unknownText } from './validation-texts.ts';

/** Returns the hooks that a route already has, which may be none, one or several. */
export function hooks<Hook>(given: Hook | Hook[] | undefined): Hook[] {
  if (given === undefined) return [];
  return Array.isArray(given) ? given : [given];
}

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
export const isOurOwn = (url: string): boolean => url.includes('/tradewind/') || url.endsWith('/cloud/v1/request_log');

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

/** Makes routes that are registered after this neither accept nor show what `LEGACY` marks in their schemas. */
export function leaveLegacyOut(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.schema) route.schema = withoutLegacy(route.schema) as FastifySchema;
  });
}

type Json = unknown;
type Properties = Record<string, Json>;

const known = new WeakMap<object, Json>();

/**
 * Returns the schema without its legacy fields and branches. A schema that has none is returned as the same
 * object, so that both base addresses keep sharing its validator.
 */
export function withoutLegacy(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  const earlier = known.get(schema);
  if (earlier !== undefined) return earlier;
  const stripped = Array.isArray(schema) ? strippedList(schema) : strippedObject(schema as Properties);
  known.set(schema, stripped);
  return stripped;
}

function strippedList(list: Json[]): Json[] {
  const kept = list.filter((item) => !isLegacy(item)).map(withoutLegacy);
  return kept.length === list.length && kept.every((item, i) => item === list[i]) ? list : kept;
}

function strippedObject(node: Properties): Properties {
  const entries = Object.entries(node).filter(([, value]) => !isLegacy(value));
  const kept = Object.fromEntries(entries.map(([key, value]) => [key, withoutLegacy(value)]));
  const { properties } = kept;
  if (properties !== node.properties && Array.isArray(kept.required)) {
    kept.required = kept.required.filter((name) => Object.hasOwn(properties as object, name));
  }
  const same = entries.length === Object.keys(node).length && entries.every(([key, value]) => kept[key] === value);
  return same ? node : kept;
}

function isLegacy(node: Json): boolean {
  return typeof node === 'object' && node !== null && 'x-legacy' in node;
}

type Schema = { [key: string]: unknown };
type Change = (value: unknown) => unknown;

/**
 * Makes routes that are registered after this replace nulls where `NULL_AS_EMPTY` and `NULL_AS_ABSENT` mark
 * their schemas.
 */
export function answerWithoutNulls(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { response } = (route.schema ?? {}) as { response?: Record<string, Schema> };
    const changes = new Map<string, Change>();
    for (const [status, schema] of Object.entries(response ?? {})) {
      const change = changeFor(schema);
      if (change) changes.set(status, change);
    }
    if (changes.size === 0) return;
    route.schema = { ...route.schema, response: withoutMarks(response, 'replace') };
    route.preSerialization = [
      ...hooks(route.preSerialization),
      (_request, reply, payload, done) => {
        const change = changes.get(String(reply.statusCode));
        done(null, change ? change(payload) : payload);
      },
    ];
  });
}

/** Makes routes that are registered after this keep their nulls, and removes the marks from the document. */
export function keepNulls(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.schema) route.schema = withoutMarks(route.schema, 'keep') as FastifySchema;
  });
}

const rewritten = { replace: new WeakMap<object, unknown>(), keep: new WeakMap<object, unknown>() };

/**
 * Returns the schema without marks. A schema without marks is returned as the same object, and the same
 * schema always gives the same result.
 */
export function withoutMarks(schema: unknown, nulls: 'replace' | 'keep'): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const earlier = rewritten[nulls].get(schema);
  if (earlier !== undefined) return earlier;
  const entries = Object.entries(schema).map(([key, value]) => [key, withoutMarks(value, nulls)] as const);
  const same = !('x-null' in schema) && entries.every(([key, value]) => (schema as Schema)[key] === value);
  const made = same
    ? schema
    : Array.isArray(schema)
      ? entries.map(([, value]) => value)
      : unmarked(schema as Schema, Object.fromEntries(entries), nulls);
  rewritten[nulls].set(schema, made);
  return made;
}

function unmarked(marked: Schema, copy: Schema, nulls: 'replace' | 'keep'): Schema {
  const { 'x-null': mark, ...rest } = copy;
  if (nulls === 'keep') return rest;
  const { properties } = marked as { properties?: Record<string, Schema> };
  if (properties && Array.isArray(rest.required)) {
    rest.required = rest.required.filter((name) => properties[name]?.['x-null'] !== 'absent');
  }
  if (mark === undefined) return rest;
  const { type, enum: values } = rest;
  if (Array.isArray(type)) [rest.type] = type.filter((each) => each !== 'null');
  if (Array.isArray(values)) rest.enum = values.filter((each) => each !== null);
  return rest;
}

/** Returns a function that removes nulls from an answer of that schema; undefined if nothing is marked. */
export function changeFor(schema: object | undefined): Change | undefined {
  if (!schema) return undefined;
  const { properties, items, anyOf } = schema as {
    properties?: Record<string, Schema>;
    items?: Schema;
    anyOf?: Schema[];
  };
  if (properties) return changeForObject(properties);
  if (anyOf) return changeForEither(anyOf);
  const change = changeFor(items);
  return change && ((value) => (Array.isArray(value) ? value.map(change) : value));
}

function changeForObject(properties: Record<string, Schema>): Change | undefined {
  const changes: [string, (value: unknown) => unknown][] = Object.entries(properties).flatMap(([name, schema]) => {
    const mark = schema['x-null'];
    const change: Change | undefined =
      mark === undefined
        ? changeFor(schema)
        : (value) => value ?? (mark === 'empty' && value === null ? '' : undefined);
    return change ? [[name, change] as [string, Change]] : [];
  });
  if (changes.length === 0) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    const copy: Record<string, unknown> = { ...value };
    for (const [name, change] of changes) copy[name] = change(copy[name]);
    return copy;
  };
}

/** Handles a union of a list and an object, by the type of the value. */
function changeForEither(branches: Schema[]): Change | undefined {
  const ofList = changeFor(branches.find(({ type }) => type === 'array'));
  const ofObject = changeFor(branches.find(({ type }) => type === 'object'));
  if (!ofList && !ofObject) return undefined;
  return (value) => (Array.isArray(value) ? ofList : ofObject)?.(value) ?? value;
}
