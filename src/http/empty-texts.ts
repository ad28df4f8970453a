import type { ErrorObject } from 'ajv';
import { at, isOpen } from './unknown-fields.ts';

/**
 * Takes empty texts out of an open body where the validator refuses them: the library under the older Terraform provider
 * sends `""` for what isn't given. Only where null would mean that as well. Returns whether there were any.
 */
export function takeOutEmpty(body: unknown, errors: ErrorObject[]): boolean {
  if (!isOpen(body)) return false;
  let found = false;
  for (const { data, parentSchema, instancePath } of errors) {
    if (data !== '' || ![parentSchema?.type].flat().includes('null')) continue;
    const slash = instancePath.lastIndexOf('/');
    const holder = at(body, instancePath.slice(0, slash));
    const name = instancePath.slice(slash + 1);
    if (!holder || Array.isArray(holder) || holder[name] !== '') continue;
    delete holder[name];
    found = true;
  }
  return found;
}
