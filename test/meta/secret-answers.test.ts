import { describe, expect, it } from 'vitest';
import { documentedOperations } from '../support/openapi.ts';

/** Answers with secrets must be documented as not to be stored; other tests check that they say so. */
const SECRET = [
  'token',
  'invitation_token',
  'refresh',
  'password',
  'private_key',
  'remote_console',
  'client_key',
  'encrypted_password',
  'confirmation',
];

/**
 * Reads of a key pair have an always empty field for the private key, which is only shown when it is made.
 */
const ALWAYS_NULL = /^(GET|PATCH) .*\/keypairs/;

interface Schema {
  type?: string | string[];
  $ref?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

const answers = (await documentedOperations()).flatMap(({ title, operation, document }) =>
  Object.entries(operation.responses).flatMap(([status, answer]) => {
    const { schema } = (answer.content?.['application/json'] ?? {}) as { schema?: Schema };
    if (!status.startsWith('2') || !schema || ALWAYS_NULL.test(title)) return [];
    const names = namesIn(schema, document.components.schemas);
    const secret = SECRET.some((name) => names.has(name)) || (names.has('certificate') && names.has('key'));
    return [{ title: `${title} ${status}`, secret: secret || names.has('config'), headers: answer.headers ?? {} }];
  }),
);

describe('the answer of', () => {
  it.each(answers.filter(({ secret }) => secret))('$title is to be kept nowhere', ({ headers }) => {
    expect(headers).toMatchObject({ 'Cache-Control': { schema: { const: 'no-store' } } });
  });
});

it('finds secrets of each kind', () => {
  expect(answers.filter(({ secret }) => secret).length).toBeGreaterThanOrEqual(20);
});

function namesIn(schema: Schema, known: Record<string, Schema>, found = new Set<string>(), depth = 0): Set<string> {
  if (depth > 8) return found;
  const children = [schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const named = schema.$ref === undefined ? undefined : known[schema.$ref.split('/').at(-1) ?? ''];
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    if (child.type === undefined || [child.type].flat().includes('string')) found.add(name);
    children.push(child);
  }
  for (const child of [named, ...children]) if (child) namesIn(child, known, found, depth + 1);
  return found;
}
