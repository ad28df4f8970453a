import { closestName } from '../../lib/closest-name.ts';
import type { FieldProblem } from '../../lib/errors.ts';
import { typeMatcher } from './filter.ts';
import known from './known-types.json' with { type: 'json' };

/** The types, and each resource with a star: what a list of types may name. */
const NAMES = [...known, ...new Set(known.map((type) => `${type.slice(0, type.lastIndexOf('.'))}.*`))].map(
  shortName,
);

/** Returns the problems of types that no event has, and of stars that stand for none. */
export function typeProblems(types: readonly string[]): FieldProblem[] {
  return types.flatMap((pattern, index) => {
    if (known.some(typeMatcher(pattern))) return [];
    const closest = closestName(shortName(pattern), NAMES);
    const hint =
      closest === undefined
        ? 'docs/reference/event-types.md lists the types.'
        : `Did you mean tradewind.${closest}?`;
    return [{ field: `types.${index}`, message: `No event has a type ${pattern}. ${hint}` }];
  });
}

/** What all types have in common would make any two of them look alike. */
function shortName(type: string): string {
  return type.replace(/^tradewind\./, '');
}
