import type { FastifyInstance, FastifySchema } from 'fastify';

/**
 * Makes routes that are registered after this neither accept nor show what `LEGACY` marks in their schemas.
 */
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
  const same =
    entries.length === Object.keys(node).length && entries.every(([key, value]) => kept[key] === value);
  return same ? node : kept;
}

function isLegacy(node: Json): boolean {
  return typeof node === 'object' && node !== null && 'x-legacy' in node;
}
