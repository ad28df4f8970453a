import type { ErrorObject } from 'ajv';

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
  const known = forms.map(
    ({ properties = {} }) => given.filter((name) => Object.hasOwn(properties, name)).length,
  );
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
    for (
      let end = instancePath.length;
      end >= 0;
      end = end === 0 ? -1 : instancePath.lastIndexOf('/', end - 1)
    ) {
      const verdict = verdicts.get(instancePath.slice(0, end) + union);
      if (verdict && (!('form' in verdict) || verdict.form !== Number(form))) return true;
    }
  }
  return false;
}
