import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';

/**
 * Returns the schema with null allowed, as one `type: [..., 'null']` instead of an `anyOf`: validators then
 * report one error, and serialisers need not try branches. For schemas with a plain `type`, including enums.
 */
export function nullable<T extends TSchema & { type?: string }>(schema: T): TUnsafe<Static<T> | null> {
  const { type, enum: values } = schema as { type?: string; enum?: unknown[] };
  if (type === undefined) throw new TypeError('nullable() needs a schema with a plain type');
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [type, 'null'],
    ...(values ? { enum: [...values, null] } : {}),
  });
}
