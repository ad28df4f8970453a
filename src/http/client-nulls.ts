import type { FastifyInstance, FastifySchema } from 'fastify';
import { hooks } from './route-hooks.ts';

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

const known = { replace: new WeakMap<object, unknown>(), keep: new WeakMap<object, unknown>() };

/**
 * Returns the schema without marks. A schema without marks is returned as the same object, and the same
 * schema always gives the same result.
 */
export function withoutMarks(schema: unknown, nulls: 'replace' | 'keep'): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const earlier = known[nulls].get(schema);
  if (earlier !== undefined) return earlier;
  const entries = Object.entries(schema).map(([key, value]) => [key, withoutMarks(value, nulls)] as const);
  const same = !('x-null' in schema) && entries.every(([key, value]) => (schema as Schema)[key] === value);
  const made = same
    ? schema
    : Array.isArray(schema)
      ? entries.map(([, value]) => value)
      : unmarked(schema as Schema, Object.fromEntries(entries), nulls);
  known[nulls].set(schema, made);
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
  const changes: [string, (value: unknown) => unknown][] = Object.entries(properties).flatMap(
    ([name, schema]) => {
      const mark = schema['x-null'];
      const change: Change | undefined =
        mark === undefined
          ? changeFor(schema)
          : (value) => value ?? (mark === 'empty' && value === null ? '' : undefined);
      return change ? [[name, change] as [string, Change]] : [];
    },
  );
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
