import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { nullable } from './wire.ts';

test('null is one more type, and one more value of an enumeration', () => {
  expect(nullable(Type.String({ maxLength: 3 }))).toMatchObject({ type: ['string', 'null'], maxLength: 3 });
  expect(nullable(Type.String())).not.toHaveProperty('enum');
  expect(nullable(Type.Enum(['a', 'b'], { type: 'string' }))).toMatchObject({ enum: ['a', 'b', null] });
  expect(() => nullable(Type.Unknown())).toThrow(TypeError);
});
