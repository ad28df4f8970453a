import { EMPTY_AS_ABSENT } from '../lib/legacy.ts';

type Json = unknown;

/** Says what the server reads, and only at one of the base addresses. */
const [EMPTY_MARK] = Object.keys(EMPTY_AS_ABSENT);
const DATA = new Set(['examples', 'example', 'default', 'enum', 'const']);

/**
 * Moves every schema that has a `title` to the components of the document, and leaves a reference in its
 * place. The routes themselves use whole schemas, which validate faster.
 * @throws Error if two different schemas have the same title
 */
export function nameComponents<T extends object>(document: T): T {
  const named = new Map<string, { text: string; schema: Json }>();

  function walk(node: Json): Json {
    if (Array.isArray(node)) return node.map(walk);
    if (typeof node !== 'object' || node === null) return node;
    const copy = Object.fromEntries(
      Object.entries(node)
        .filter(([key, value]) => !isErrorText(node, key, value) && key !== EMPTY_MARK)
        // Examples and other data are not schemas, even if they look like one.
        .map(([key, value]) => [key, DATA.has(key) ? value : walk(value)]),
    );
    const { title } = copy;
    if (typeof title !== 'string' || !isSchema(copy)) return copy;
    const text = JSON.stringify(copy);
    const known = named.get(title);
    if (known && known.text !== text) throw new Error(`Two different schemas are called ${title}`);
    if (!known) named.set(title, { text, schema: copy });
    return { $ref: `#/components/schemas/${title}` };
  }

  const { components, ...rest } = document as { components?: object };
  const walked = walk(rest) as object;
  const schemas = Object.fromEntries(
    [...named].sort(([a], [b]) => a.localeCompare(b)).map(([name, { schema }]) => [name, schema]),
  );
  return { ...walked, components: { ...components, schemas } } as T;
}

/** `rule` beside a pattern is the text of its error, and not a keyword of JSON Schema. */
function isErrorText(node: object, key: string, value: Json): boolean {
  return key === 'rule' && typeof value === 'string' && 'pattern' in node;
}

function isSchema(node: object): boolean {
  return 'type' in node || 'anyOf' in node || 'oneOf' in node || 'enum' in node;
}
