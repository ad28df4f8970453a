import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { FieldProblem } from './errors.ts';

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

const FIELD = 'ddos_profile';

export interface DdosField {
  base_field: number;
  field_value: unknown;
}

/** Template id and name as the client gave them: at least one of them while the profile is enabled. */
export interface DdosProfile {
  enabled: boolean;
  fields: DdosField[];
  profile_template: number | null;
  profile_template_name: string | null;
}

/** A field of a DDoS profile template. `validation_schema` is a JSON Schema from the catalogue, or null. */
export interface DdosTemplateField {
  id: number;
  name: string;
  description: string | null;
  field_type: string | null;
  required: boolean | null;
  default: string | null;
  validation_schema: unknown;
}

export interface DdosTemplate {
  id: number;
  name: string;
  description: string | null;
  fields: readonly DdosTemplateField[];
}

export interface DdosContext {
  /** All templates of the cluster's region. */
  ddosTemplates: readonly DdosTemplate[];
}

/**
 * Returns the problems of a cluster's DDoS profile. A disabled profile may be incomplete, but its contents
 * must be valid.
 */
export function ddosProfileProblems(profile: DdosProfile, { ddosTemplates }: DdosContext): FieldProblem[] {
  const { profile_template: id, profile_template_name: name } = profile;
  if (id === null && name === null) return noTemplateProblems(profile, ddosTemplates);
  const template = ddosTemplates.find((item) => (id === null ? item.name === name : item.id === id));
  if (!template) {
    const field = `${FIELD}.${id === null ? 'profile_template_name' : 'profile_template'}`;
    return [{ field, message: `Unknown template ${id ?? name}. ${offered(ddosTemplates)}` }];
  }
  if (name !== null && template.name !== name) {
    const message = `Template ${template.id} is named ${template.name}: send the name that goes with the ID, or only one of the two.`;
    return [{ field: `${FIELD}.profile_template_name`, message }];
  }
  return [
    ...profile.fields.flatMap((field, index) => fieldProblems(field, index, profile.fields, template)),
    ...(profile.enabled ? missingProblems(profile.fields, template) : []),
  ];
}

function noTemplateProblems(profile: DdosProfile, templates: readonly DdosTemplate[]): FieldProblem[] {
  if (profile.enabled) {
    const message = `Must be given to enable the profile, by ID or by profile_template_name. ${offered(templates)}`;
    return [{ field: `${FIELD}.profile_template`, message }];
  }
  return profile.fields.length > 0
    ? [
        {
          field: `${FIELD}.fields`,
          message: 'Fields belong to a template: give profile_template as well, or no fields.',
        },
      ]
    : [];
}

function offered(templates: readonly DdosTemplate[]): string {
  if (templates.length === 0) return 'This region offers no DDoS profile templates.';
  return `This region offers: ${templates.map(({ id, name }) => `${id} (${name})`).join(', ')}.`;
}

function fieldProblems(
  { base_field, field_value }: DdosField,
  index: number,
  all: readonly DdosField[],
  template: DdosTemplate,
): FieldProblem[] {
  const path = `${FIELD}.fields.${index}`;
  const known = template.fields.find((item) => item.id === base_field);
  if (!known) {
    const fields = template.fields.map(({ id, name }) => `${id} (${name})`).join(', ') || 'none';
    const message = `Template ${template.id} has no field ${base_field}. Its fields are: ${fields}.`;
    return [{ field: `${path}.base_field`, message }];
  }
  if (all.findIndex((item) => item.base_field === base_field) < index) {
    return [
      {
        field: `${path}.base_field`,
        message: `Field ${base_field} (${known.name}) is given twice: give it once.`,
      },
    ];
  }
  // Null means that there is no value; `missingProblems` checks required fields.
  if (field_value === null) return [];
  const fault = fieldValueFault(known.validation_schema, field_value);
  if (fault === undefined) return [];
  const hint = known.description ? ` (${known.name}: ${known.description})` : ` (${known.name})`;
  return [{ field: `${path}.field_value`, message: `${fault}${hint}.` }];
}

/** Returns problems for required fields that have neither a value of the client nor a default of the template. */
function missingProblems(fields: readonly DdosField[], template: DdosTemplate): FieldProblem[] {
  return template.fields
    .filter((known) => known.required === true && known.default === null)
    .flatMap((known) => {
      const index = fields.findIndex((item) => item.base_field === known.id);
      const given = fields[index];
      if (given && given.field_value !== null) return [];
      return given
        ? [
            {
              field: `${FIELD}.fields.${index}.field_value`,
              message: `Must be given: ${known.name} is required and has no default.`,
            },
          ]
        : [
            {
              field: `${FIELD}.fields`,
              message: `Must hold a value for field ${known.id} (${known.name}), which is required.`,
            },
          ];
    });
}
