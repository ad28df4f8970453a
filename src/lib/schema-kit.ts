import { type TSchema, Type } from 'typebox';

/**
 * The value or null. With a union, a titled object stays a separate component of the API document. No schema
 * of an update has a `default`: the validator would fill it in, and nobody could tell that the field was
 * absent.
 */
export const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

/** A map from text to text. `propertyNames` and `additionalProperties` also reach keys with line breaks. */
export const textMap = (
  limits: { keyLength: number; valueLength: number; entries: number },
  annotations: { title?: string; description: string; examples: Record<string, string>[] },
) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    ...annotations,
    maxProperties: limits.entries,
    propertyNames: { type: 'string', minLength: 1, maxLength: limits.keyLength },
    additionalProperties: { type: 'string', maxLength: limits.valueLength },
  });

/** One of several texts. */
export const oneOf = <const V extends readonly string[]>(values: V, annotations: object) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...annotations });

/** A closed object whose fields are all optional. */
export const closed = <P extends Record<string, TSchema>>(
  properties: P,
  annotations: { title?: string; description: string; examples?: object[] },
) => Type.Object(properties, { ...annotations, additionalProperties: false });
