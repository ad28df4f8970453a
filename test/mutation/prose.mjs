/** What documents a schema. */
const DOCUMENTATION = new Set(['description', 'example', 'examples', 'rule', 'title']);

/** Texts for people: what has blanks in it, and what documents a schema. Tests needn't repeat them word by word. */
function isProse({ node }) {
  if (node.type === 'StringLiteral') return node.value.trim().includes(' ');
  if (node.type === 'ObjectProperty') return DOCUMENTATION.has(node.key.name);
  if (node.type !== 'TemplateLiteral') return false;
  const isText = node.quasis.some(({ value }) => value.raw.trim().includes(' '));
  return isText && node.expressions.every(({ type }) => type === 'Identifier' || type === 'MemberExpression');
}

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'prose',
    value: { shouldIgnore: (path) => (isProse(path) ? 'a text for people' : undefined) },
  },
];
