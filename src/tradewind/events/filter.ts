import { isAdministrative } from '../../requests/event-types.ts';
import type { Principal } from '../../requests/principal.ts';
import { allows } from '../../requests/principal.ts';
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
