// What the command line knows of the operations that it calls, taken from the OpenAPI document: "npm run openapi"
// writes it, and a test compares it, so that no command names a parameter or a field that there isn't.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Field, Operation as Known } from '../cli/api/operations.ts';
import { usedOperations } from '../cli/program.ts';
import type { OpenApiDocument, Operation, Parameter } from '../src/http/openapi-document.ts';

export const CLI_OPERATIONS_FILE = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  '../cli/api/operations.json',
);

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
  deprecated?: boolean;
  maximum?: number;
}

/** Returns the contents of the file for the document. */
export function cliOperations(document: OpenApiDocument): string {
  const found = new Map<string, Known>();
  for (const [address, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations))
      found.set(operation.operationId, knownOf(document, method, address, operation));
  }
  const used = [...usedOperations()].sort().map((id) => {
    const known = found.get(id);
    if (!known) throw new Error(`The command line calls ${id}, which is no operation`);
    return [id, known];
  });
  return `${JSON.stringify(Object.fromEntries(used), null, 1)}\n`;
}

function knownOf(document: OpenApiDocument, method: string, address: string, operation: Operation): Known {
  const all = (operation.parameters ?? []).map((one) => resolved<Parameter>(document, one));
  const fields = (place: Parameter['in']) =>
    all
      .filter((one) => one.in === place)
      .map((one) => fieldOf(document, one.name, { ...one.schema, ...textOf(one) }, one.required === true));
  const body = operation.requestBody?.content['application/json']?.schema;
  return {
    method: method.toUpperCase(),
    path: address,
    summary: operation.summary,
    parameters: fields('path'),
    query: fields('query'),
    ...(body && { body: bodyFields(document, body) }),
    // Only what changes something can be tried out.
    changes: all.some(({ name }) => name.toLowerCase() === 'tradewind-dry-run'),
  };
}

function bodyFields(document: OpenApiDocument, schema: Schema): Field[] {
  const { properties = {}, required = [] } = resolved<Schema>(document, schema);
  return Object.entries(properties)
    .map(([name, each]) => fieldOf(document, name, each, required.includes(name)))
    .filter(({ type }) => type !== '');
}

function fieldOf(document: OpenApiDocument, name: string, given: Schema, required: boolean): Field {
  const outer = resolved<Schema>(document, given);
  const many = [outer.type].flat().includes('array');
  const schema = many ? resolved<Schema>(document, outer.items ?? {}) : outer;
  const parts = (schema.anyOf ?? schema.oneOf ?? [schema]).map((one) => resolved<Schema>(document, one));
  const values = parts.flatMap((one) => one.enum ?? (one.const === undefined ? [] : [one.const]));
  return {
    name,
    type: typeOf(parts),
    ...(many && { many }),
    ...(values.length > 0 && { values: values.filter((value) => value !== null).map(String) }),
    ...(required && { required }),
    ...(schema.maximum !== undefined && schema.maximum <= 100_000 && { max: schema.maximum }),
    text: firstSentence(given.description ?? outer.description ?? ''),
  };
}

/** Empty for what is only there to be ignored, such as the fields of an answer that somebody sends back. */
function typeOf(parts: Schema[]): string {
  const types = new Set(parts.flatMap((one) => one.type ?? (one.enum ? typesOf(one.enum) : [])));
  types.delete('null');
  if (types.size === 0) return parts.some((one) => one.const !== undefined) ? 'string' : '';
  const [only = ''] = types;
  return types.size === 1 && ['string', 'integer', 'number', 'boolean'].includes(only) ? only : 'json';
}

const typesOf = (values: unknown[]): string[] => values.map((value) => (value === null ? 'null' : typeof value));

function textOf(one: object): { description?: string } {
  return 'description' in one ? { description: String(one.description) } : {};
}

function firstSentence(text: string): string {
  return (/^.*?(?=\.(\s|$)|$)/.exec(text)?.[0] ?? '').trim();
}

function resolved<T>(document: OpenApiDocument, one: T | { $ref?: string }): T {
  const reference = (one as { $ref?: string }).$ref;
  if (reference === undefined) return one as T;
  const at = reference.split('/').slice(1);
  const target = at.reduce<unknown>((place, key) => (place as Record<string, unknown>)[key], document);
  return resolved(document, target as T);
}
