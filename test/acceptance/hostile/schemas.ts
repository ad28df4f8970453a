import { randomUUID } from 'node:crypto';
import { type DocumentedOperation, parametersIn } from '../../support/openapi.ts';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: Json;
  enum?: Json[];
  default?: Json;
  examples?: Json[];
  pattern?: string;
  format?: string;
  minimum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

/**
 * A part of a body: its names from the outside in (`0` for an item), its schema, and the value that selects
 * its branch of a union.
 */
export interface Place {
  path: string[];
  schema: Schema;
  fixed: { path: string[]; value: Json }[];
}

export function bodySchema({ operation }: DocumentedOperation): Schema | undefined {
  return operation.requestBody?.content['application/json']?.schema;
}

/** Whether two operations accept the same bodies and queries. */
export function takeTheSame(one: DocumentedOperation, other: DocumentedOperation): boolean {
  const taken = (of: DocumentedOperation) => JSON.stringify([placesIn(of), parametersIn('query', of.operation)]);
  return taken(one) === taken(other);
}

/** Returns every possible part of a body of this operation, in each branch of its unions. */
export function placesIn(of: DocumentedOperation): Place[] {
  const schema = bodySchema(of);
  const found: Place[] = [];
  if (schema) collect(schema, [], [], 0);
  return found;

  function collect(given: Schema, path: string[], fixed: Place['fixed'], depth: number): void {
    if (depth > 12) return;
    const schema = resolved(of, given);
    found.push({ path, schema, fixed });
    for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) {
      const own = Object.entries(resolved(of, branch).properties ?? {}).flatMap(
        ([name, { const: only, enum: some }]) => {
          const value = only ?? some?.[0];
          return value === undefined ? [] : [{ path: [...path, name], value }];
        },
      );
      collect(branch, path, [...fixed, ...own], depth + 1);
    }
    for (const [name, child] of Object.entries(schema.properties ?? {})) {
      collect(child, [...path, name], fixed, depth + 1);
    }
    if (schema.items) collect(schema.items, [...path, '0'], fixed, depth + 1);
    if (typeof schema.additionalProperties === 'object') {
      collect(schema.additionalProperties, [...path, 'any-name'], fixed, depth + 1);
    }
  }
}

export function resolved({ document }: Pick<DocumentedOperation, 'document'>, schema: Schema): Schema {
  let found: Schema = schema;
  while (found.$ref !== undefined) {
    const name = found.$ref.split('/').at(-1) ?? '';
    found = document.components.schemas[name] as Schema;
  }
  return found;
}

/** Returns some value that roughly fits. */
export function sampleOf(of: DocumentedOperation, given: Schema, depth = 0): Json {
  const schema = resolved(of, given);
  const shown = schema.examples?.[0] ?? schema.const ?? schema.enum?.[0] ?? schema.default;
  if (shown !== undefined && shown !== null) return shown;
  const branch = schema.anyOf?.[0] ?? schema.oneOf?.[0] ?? schema.allOf?.[0];
  if (branch && depth < 12) return sampleOf(of, branch, depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'object': {
      const wanted = Object.entries(schema.properties ?? {}).filter(([name]) => schema.required?.includes(name));
      return Object.fromEntries(wanted.map(([name, child]) => [name, sampleOf(of, child, depth + 1)]));
    }
    case 'array':
      return schema.items ? [sampleOf(of, schema.items, depth + 1)] : [];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return schema.format === 'uuid' || schema.pattern?.includes('{8}-') ? UUID : 'text';
  }
}

const UUID = '7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90';

/** Returns what is at that place; undefined if nothing is, or another branch of a union is in use. */
export function valueAt(body: Json, { path, fixed }: Place): Json | undefined {
  const other = fixed.some((one) => ![undefined, one.value].includes(at(body, one.path)));
  return other ? undefined : at(body, path);
}

function at(body: Json | undefined, path: string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (value, name) => (value as Record<string, Json> | null | undefined)?.[name],
    body,
  );
}

/** Returns a copy of the body with that value at that place, creating the parts around it. */
export function withValue(body: Json, { path, fixed }: Place, value: Json): Json {
  let changed = structuredClone(body);
  for (const one of fixed) changed = put(changed, one.path, one.value);
  return put(changed, path, value);
}

function put(body: Json, [name, ...rest]: string[], value: Json): Json {
  if (name === undefined) return value;
  if (name === '0') {
    const [first = null, ...others] = Array.isArray(body) ? body : [];
    return [put(first, rest, value), ...others];
  }
  const object = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  return { ...object, [name]: put(object[name] ?? null, rest, value) };
}

export function isText({ schema }: Place): boolean {
  return [schema.type].flat().includes('string') && !schema.enum && schema.const === undefined;
}

/**
 * Returns the value with other ids, addresses and names, so that all are different and may all be accepted.
 */
export function varied(value: Json, n: number, name = ''): Json {
  if (typeof value === 'number') return name.endsWith('id') ? value + n : value;
  if (typeof value === 'string') return variedText(value, n, name);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => varied(item, n, name));
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, varied(child, n, key)]));
}

function variedText(text: string, n: number, name: string): string {
  if (/^[0-9a-f]{8}-/i.test(text)) return randomUUID();
  if (/^\d+\.\d+\.\d+\.\d+/.test(text)) return text.replace(/^\d+\.\d+\.\d+/, `10.${n >> 8}.${n & 255}`);
  return /name$|key$|description/.test(name) ? `${text.slice(0, 14)}${n}` : text;
}
