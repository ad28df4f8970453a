import type { ErrorObject } from 'ajv';
import { at, isOpen, noteIgnored } from './unknown-fields.ts';
import { fieldOf } from './validation-texts.ts';

/**
 * Takes empty texts and zeros out of an open body where the validator refuses them and the field is marked `EMPTY_AS_ABSENT`, and
 * names them like unknown fields. Elsewhere they stay refused: a rule without its group is a rule for everybody. Returns
 * whether there were any: then the body has to be validated again.
 */
export function takeOutEmpty(body: unknown, errors: ErrorObject[]): boolean {
  if (!isOpen(body)) return false;
  let found = false;
  for (const error of errors) {
    const { data, parentSchema, instancePath } = error;
    if ((data !== '' && data !== 0) || parentSchema?.['x-empty'] !== 'absent') continue;
    const slash = instancePath.lastIndexOf('/');
    const holder = at(body, instancePath.slice(0, slash));
    const name = instancePath.slice(slash + 1);
    if (!holder || Array.isArray(holder) || holder[name] !== data) continue;
    delete holder[name];
    found = true;
    noteIgnored(body, fieldOf(error));
  }
  return found;
}
