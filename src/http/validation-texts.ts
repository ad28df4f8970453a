import type { ErrorObject } from 'ajv';
import type { FieldProblem } from '../lib/errors.ts';
import { closestName } from '../lib/texts.ts';
import { MOMENT_RULE } from '../lib/time.ts';

interface Form {
  type?: string;
  properties?: object;
  required?: readonly string[];
}

/** What a value was meant to be: the form with this index, or a text that says what to choose from. */
type Verdict = { form: number } | { text: string };

/**
 * A validator reports the faults of every form that a value might have. Leaves those of the form that was meant by its
 * fields, or says which fields there are to choose from, in an error with the keyword `union`. Unions with a
 * discriminator need none of this.
 */
export function decideUnions(errors: ErrorObject[]): ErrorObject[] {
  const verdicts = new Map<string, Verdict>();
  for (const error of errors) {
    const verdict = verdictOn(error);
    if (verdict) verdicts.set(error.instancePath + error.schemaPath, verdict);
  }
  if (verdicts.size === 0) return errors;
  return errors.flatMap((error) => {
    const own = verdicts.get(error.instancePath + error.schemaPath);
    if (own && 'text' in own) return [{ ...error, keyword: 'union', params: own }];
    return isOfOtherForm(error, verdicts) ? [] : [error];
  });
}

function verdictOn({ keyword, parentSchema, data }: ErrorObject): Verdict | undefined {
  if ((keyword !== 'oneOf' && keyword !== 'anyOf') || parentSchema?.discriminator) return undefined;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined;
  const forms: Form[] = parentSchema?.[keyword] ?? [];
  if (forms.filter(({ properties }) => properties).length < 2) return undefined;
  const given = Object.keys(data);
  const known = forms.map(({ properties = {} }) => given.filter((name) => Object.hasOwn(properties, name)).length);
  const most = Math.max(...known);
  const best = forms.filter((_, index) => known[index] === most);
  if (most > 0 && best.length === 1) return { form: known.indexOf(most) };
  const keys = best.flatMap(({ properties, required = [] }) => (properties ? required.slice(0, 1) : []));
  if (keys.length < 2) return undefined;
  return { text: `Must have ${most > 0 ? 'only one' : 'one'} of: ${keys.join(', ')}.` };
}

function isOfOtherForm({ schemaPath, instancePath }: ErrorObject, verdicts: Map<string, Verdict>): boolean {
  for (const { 0: part, 1: form, index } of schemaPath.matchAll(/\/(?:one|any)Of\/(\d+)/g)) {
    const union = schemaPath.slice(0, index + part.lastIndexOf('/'));
    for (let end = instancePath.length; end >= 0; end = end === 0 ? -1 : instancePath.lastIndexOf('/', end - 1)) {
      const verdict = verdicts.get(instancePath.slice(0, end) + union);
      if (verdict && (!('form' in verdict) || verdict.form !== Number(form))) return true;
    }
  }
  return false;
}

/** The most error texts in one answer. */
const MAX_TEXTS = 50;
/** Names can be as long as the body. */
const MAX_FIELD_LENGTH = 200;

/** Turns the errors of a JSON Schema validator into texts by field that say what to send instead. */
export function fieldProblems(errors: ErrorObject[], part: string): FieldProblem[] {
  return relevantErrors(errors)
    .slice(0, MAX_TEXTS)
    .map((error) => ({ field: shortened(fieldOf(error)) || part, message: worded(error, part) }));
}

/** Returns the errors of the forms that were meant. */
export const relevantErrors = (errors: ErrorObject[]): ErrorObject[] => relevant(decideUnions(errors));

/** A failed union reports each branch; the branch "or null" and the union itself say nothing useful. */
function relevant(errors: ErrorObject[]): ErrorObject[] {
  // Indexed by field, because strangers determine the number of errors: comparing each with each blocked the
  // process for seconds.
  const mismatched = fieldsWith('pattern', errors);
  const missing = fieldsWith('required', errors);
  const rest = errors.filter((error) => {
    switch (error.keyword) {
      case 'anyOf':
      case 'oneOf':
      case 'if':
      // The fault of the name is an error of its own.
      case 'propertyNames':
        return false;
      case 'type':
        return error.params.type !== 'null';
      // Another error of the same field says the same and more.
      case 'format':
        return !mismatched.has(fieldOf(error));
      case 'discriminator':
        return !missing.has(fieldOf(error));
      default:
        return true;
    }
  });
  return rest.length > 0 ? rest : errors;
}

function fieldsWith(keyword: string, errors: ErrorObject[]): Set<string> {
  return new Set(errors.filter((error) => error.keyword === keyword).map(fieldOf));
}

/** Returns a field as an error names it: with no more than a reader needs. */
export function shortened(field: string): string {
  return field.length > MAX_FIELD_LENGTH ? `${field.slice(0, MAX_FIELD_LENGTH)}…` : field;
}

export function fieldOf(error: ErrorObject): string {
  const path = error.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const child: unknown =
    error.params.missingProperty ??
    error.params.additionalProperty ??
    error.params.propertyName ??
    // The property that distinguishes the branches of a union.
    error.params.tag ??
    '';
  if (child === '') return path;
  return path === '' ? String(child) : `${path}.${String(child)}`;
}

/** The keys of a map have no field of their own. */
function worded(error: ErrorObject, part: string): string {
  const text = textOf(error, part);
  return error.propertyName === undefined ? text : text.replace(/^Must/, 'Each name must');
}

function textOf(error: ErrorObject, part: string): string {
  // A schema may contain its own sentence for the meaning of its pattern.
  const rule: unknown = (error.parentSchema as { rule?: unknown } | undefined)?.rule;
  const { params } = error;
  switch (error.keyword) {
    case 'required':
      return 'This field is required.';
    case 'additionalProperties':
      return unknownText(part === 'querystring' ? 'query parameter' : 'field', closestField(error));
    case 'type':
      return typeText(error, part);
    case 'enum':
      return `Must be one of: ${(params.allowedValues as unknown[]).map(shown).join(', ')}.`;
    case 'const':
      return `Must be ${shown(params.allowedValue)}.`;
    case 'discriminator':
      return `Must be one of: ${kindsOf(error).map(shown).join(', ')}.`;
    case 'minimum':
      return `Must be at least ${String(params.limit)}.`;
    case 'maximum':
      return `Must be at most ${String(params.limit)}.`;
    case 'minLength':
      return params.limit === 1 ? 'Must not be empty.' : `Must have at least ${String(params.limit)} characters.`;
    case 'maxLength':
      return `Must have at most ${String(params.limit)} characters.`;
    case 'minItems':
      return `Must have at least ${String(params.limit)} item(s).`;
    case 'maxItems':
      return `Must have at most ${String(params.limit)} items.`;
    case 'minProperties':
      return `Must have at least ${String(params.limit)} field(s).`;
    case 'maxProperties':
      return `Must have at most ${String(params.limit)} fields.`;
    case 'union':
      return String(params.text);
    case 'uniqueItems':
      return 'Must not hold the same item twice.';
    case 'format':
      return params.format === 'date-time' ? MOMENT_RULE : `Must be a valid ${String(params.format)}.`;
    case 'pattern':
      return typeof rule === 'string' ? rule : `Must match the pattern ${String(params.pattern)}`;
    default:
      return `Is not valid: ${error.message ?? error.keyword}.`;
  }
}

/** Returns the name that was most likely meant by an unknown one. */
export function closestField({ params, parentSchema }: ErrorObject): string | undefined {
  const { properties = {} } = parentSchema as { properties?: object };
  return closestName(String(params.additionalProperty), Object.keys(properties));
}

export function unknownText(kind: string, meant: string | undefined): string {
  return meant === undefined ? `Unknown ${kind}.` : `Unknown ${kind}. Did you mean ${meant}?`;
}

function typeText({ params, data, instancePath }: ErrorObject, part: string): string {
  const type = String(params.type);
  if (part === 'body' && instancePath === '' && data === null) {
    return `Must not be empty; send a JSON ${type}.`;
  }
  if (part === 'querystring') {
    if (Array.isArray(data)) return 'Send it only once.';
    if (type === 'boolean') return 'Must be true or false.';
  }
  return `Must be ${aOrAn(type)}.`;
}

function shown(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}

function aOrAn(type: string): string {
  return type
    .split(',')
    .map((name) => (/^[aeio]/.test(name) ? `an ${name}` : `a ${name}`))
    .join(' or ');
}

/** Returns the values that distinguish the branches of a union. */
function kindsOf({ parentSchema, params }: ErrorObject): unknown[] {
  const { oneOf = [] } = parentSchema as {
    oneOf?: { properties?: Record<string, { const?: unknown; enum?: unknown[] }> }[];
  };
  return oneOf.flatMap(({ properties }) => {
    const tag = properties?.[String(params.tag)];
    return tag?.enum ?? [tag?.const];
  });
}
