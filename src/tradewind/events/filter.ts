import type { FieldProblem } from '../../lib/errors.ts';
import { closestName } from '../../lib/texts.ts';
import { isAdministrative } from '../../requests/event-types.ts';
import { allows, type Principal } from '../../requests/principal.ts';
import known from './known-types.json' with { type: 'json' };
import type { EventsFilter } from './schema.ts';
import type { EventRow, Wanted } from './store.ts';

/** Which events a listener is told of: in SQL, and `matches` for those that are in memory. */
export interface Interest extends Wanted {
  matches(event: EventRow): boolean;
}

/** Returns what the caller asks for and may see. */
export function interestOf(
  principal: Principal,
  { type: types, project_id: projects, subject: subjects }: EventsFilter,
): Interest {
  const clientId = principal.platformAdministrator ? undefined : principal.clientId;
  const administers = allows(principal, 'administer');
  const matchers = types?.map(typeMatcher);
  return {
    clientId,
    subjects,
    projects,
    types,
    administers,
    matches: (event) =>
      (clientId === undefined || event.client_id === clientId) &&
      (projects === undefined || (event.project_id !== null && projects.includes(event.project_id))) &&
      (subjects === undefined || subjects.includes(event.subject)) &&
      (matchers === undefined || matchers.some((isMeant) => isMeant(event.type))) &&
      (administers || !isAdministrative(event.type)),
  };
}

/** `tradewind.task.*` means every type that begins with `tradewind.task.` */
export function typeMatcher(pattern: string): (type: string) => boolean {
  if (!pattern.endsWith('*')) return (type) => type === pattern;
  const beginning = pattern.slice(0, -1);
  return (type) => type.startsWith(beginning);
}

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
