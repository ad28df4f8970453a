import { apply, generate } from 'json-merge-patch';

/**
 * Returns the merge patch that leads from `spec` back to `former`; either may be null: the thing does not
 * exist.
 */
export function undoOf(former: object | null, spec: object | null): object | null {
  if (former === null || spec === null) return former;
  return generate<object>(spec, former) ?? {};
}

/**
 * Returns the spec after a change is undone, whatever else has changed since. A thing that must be removed by
 * now stays so, unless the change itself was the removal.
 */
export function undone(
  current: object | null,
  undo: object | null,
  { wasRemoval }: { wasRemoval: boolean },
): object | null {
  if (undo === null || (current === null && !wasRemoval)) return null;
  return apply<object>(structuredClone(current), undo);
}
