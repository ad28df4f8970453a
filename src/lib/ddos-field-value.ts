import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';

// The schemas (draft 7) come from the catalogue, not from clients: they are trusted and few.
const ajv = new Ajv({ strict: false, validateSchema: false, addUsedSchema: false });
addFormats.default(ajv);

/** By the schema's text, so that a catalogue that is read again doesn't compile the same schema again. */
const validators = new Map<string, ValidateFunction>();

/**
 * Returns why a value does not fit its template's JSON Schema, without a full stop; undefined if it fits.
 * Throws if the schema itself is broken.
 */
export function fieldValueFault(schema: unknown, value: unknown): string | undefined {
  const validate = validatorOf(schema);
  if (!validate || validate(value)) return undefined;
  return faultText(validate.errors?.[0]);
}

/** Returns what a text stands for: the number or truth value, if the field wants one. Older clients send only texts. */
export function basicValue(text: string, schema: unknown): unknown {
  if (fieldValueFault(schema, text) === undefined) return text;
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

function validatorOf(schema: unknown): ValidateFunction | undefined {
  if (typeof schema === 'boolean') return validatorOf(schema ? {} : { not: {} });
  if (typeof schema !== 'object' || schema === null) return undefined;
  const text = JSON.stringify(schema);
  let validate = validators.get(text);
  if (!validate) {
    // Compiles a copy, since the validator would also keep compiled schemas by object.
    validate = ajv.compile(JSON.parse(text) as object);
    validators.set(text, validate);
  }
  return validate;
}

function faultText(error: ErrorObject | undefined): string {
  const where = error?.instancePath ? ` at ${error.instancePath.slice(1).replaceAll('/', '.')}` : '';
  return `Does not satisfy the field's schema${where}: ${error?.message ?? 'not valid'}`;
}
