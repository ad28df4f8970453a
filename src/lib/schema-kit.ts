import { type TSchema, Type } from 'typebox';

/**
 * The value or null. A union keeps a titled object a component of its own in the API document.
 * No schema of an update carries `default`: the validator would fill it in, and absent would be lost.
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

/** One of some texts. */
export const oneOf = <const V extends readonly string[]>(values: V, annotations: object) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...annotations });

/** A closed object whose fields may all be left out. */
export const closed = <P extends Record<string, TSchema>>(
  properties: P,
  annotations: { title?: string; description: string; examples?: object[] },
) => Type.Object(properties, { ...annotations, additionalProperties: false });
