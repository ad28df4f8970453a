import { Type } from 'typebox';
import { expect, it } from 'vitest';
import { LEGACY } from '../lib/legacy.ts';
import { withoutLegacy } from './dialect-hooks.ts';

const Inner = Type.Object({ id: Type.String(), instance_name: Type.String({ ...LEGACY }) });

it('drops legacy fields at any depth, from what is required as well', () => {
  const schema = Type.Object({
    results: Type.Array(Inner),
    metadata: Type.Optional(Type.String({ ...LEGACY })),
  });
  expect(withoutLegacy(schema)).toEqual({
    type: 'object',
    required: ['results'],
    properties: {
      results: {
        type: 'array',
        items: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
      },
    },
  });
});

it('drops legacy branches of a union', () => {
  const schema = { anyOf: [{ type: 'string' }, { type: 'null', ...LEGACY }] };
  expect(withoutLegacy(schema)).toEqual({ anyOf: [{ type: 'string' }] });
});

it('leaves a schema without any the same object, and answers the same object twice', () => {
  const plain = Type.Object({ id: Type.String() });
  expect(withoutLegacy(plain)).toBe(plain);
  expect(withoutLegacy(Inner)).toBe(withoutLegacy(Inner));
});
