import { apply, generate } from 'json-merge-patch';

/** The merge patch that leads from `spec` back to `former`; either may be null, which is: not there. */
export function undoOf(former: object | null, spec: object | null): object | null {
  if (former === null || spec === null) return former;
  return generate<object>(spec, former) ?? {};
}

/**
 * What is wanted once a change is taken back, whatever else was changed since. What is to go by now goes all the same,
 * unless that was the change.
 */
export function undone(
  current: object | null,
  undo: object | null,
  { wasRemoval }: { wasRemoval: boolean },
): object | null {
  if (undo === null || (current === null && !wasRemoval)) return null;
  return apply<object>(structuredClone(current), undo);
}
