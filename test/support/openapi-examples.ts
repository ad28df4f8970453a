interface Node {
  pointer: string;
  node: Record<string, unknown>;
}

/** Keys that contain data, inside which nothing is a schema. */
const DATA = new Set(['examples', 'example', 'default', 'enum', 'const']);

/** Yields every object of a document that isn't data, with its JSON pointer. */
export function* nodesOf(root: object, pointer = '', keysAreNames = false): Generator<Node> {
  yield { pointer, node: root as Node['node'] };
  for (const [key, child] of Object.entries(root)) {
    if (typeof child !== 'object' || child === null || (DATA.has(key) && !keysAreNames)) continue;
    const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    yield* nodesOf(child, at, !keysAreNames && key === 'properties');
  }
}

/** Returns the examples and the default at one place, with the pointer to their schema. */
export function examplesAt({ pointer, node }: Node): { pointer: string; example: unknown }[] {
  const fitting = (examples: unknown[], at = pointer) => examples.map((example) => ({ pointer: at, example }));
  // Beside a `schema` there are examples of whole bodies; the values of `examples` have names there.
  if (isObject(node.schema)) {
    const named = isObject(node.examples) ? Object.values(node.examples) : [];
    const bodies = named.map((example) => (example as { value: unknown }).value);
    return fitting('example' in node ? [node.example] : bodies, `${pointer}/schema`);
  }
  const hasDefault = 'default' in node && (typeof node.type === 'string' || Array.isArray(node.enum));
  return [...fitting(Array.isArray(node.examples) ? node.examples : []), ...fitting(hasDefault ? [node.default] : [])];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
