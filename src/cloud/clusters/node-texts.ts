import type { FieldProblem } from '../../lib/errors.ts';

/** Labels and taints as the Kubernetes API server accepts them (apimachinery validation.go). */

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;
const DOMAIN_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_DOMAIN = 253;
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const KEY_RULE =
  'The key must be a name of up to 63 letters, digits, hyphens, underscores and dots that starts and ends with a letter or digit, such as tier. It may have a domain as a prefix, such as example.com/tier.';
const VALUE_RULE =
  'Must be empty or up to 63 letters, digits, hyphens, underscores and dots that start and end with a letter or digit.';

export function labelProblems(labels: Readonly<Record<string, string>>, path: string): FieldProblem[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    if (!isKey(key)) return [{ field: `${path}.${key}`, message: KEY_RULE }];
    return VALUE.test(value) ? [] : [{ field: `${path}.${key}`, message: VALUE_RULE }];
  });
}

/** Returns the problems of taints. A taint's value reads `value:Effect`; the part before the colon may be empty. */
export function taintProblems(taints: Readonly<Record<string, string>>, path: string): FieldProblem[] {
  return Object.entries(taints).flatMap(([key, text]) => {
    if (!isKey(key)) return [{ field: `${path}.${key}`, message: KEY_RULE }];
    const colon = text.lastIndexOf(':');
    const sound = colon >= 0 && VALUE.test(text.slice(0, colon)) && EFFECTS.includes(text.slice(colon + 1));
    const message = `Must have the form value:Effect, such as web:NoSchedule, with one of the effects ${EFFECTS.join(', ')}.`;
    return sound ? [] : [{ field: `${path}.${key}`, message }];
  });
}

function isKey(key: string): boolean {
  const slash = key.indexOf('/');
  if (slash < 0) return NAME.test(key);
  const domain = key.slice(0, slash);
  return (
    domain.length <= MAX_DOMAIN &&
    domain.split('.').every((label) => DOMAIN_LABEL.test(label)) &&
    NAME.test(key.slice(slash + 1))
  );
}
