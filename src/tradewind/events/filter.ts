import type { Principal } from '../../requests/principal.ts';
import { allows } from '../../requests/principal.ts';
import type { EventsFilter } from './schema.ts';
import type { EventRow, Narrowed } from './store.ts';
import { isAdministrative } from './types.ts';

/** Which events a listener is told of. */
export interface Interest extends Narrowed {
  matches(event: EventRow): boolean;
}

/** Returns what the caller asks for and may see. */
export function interestOf(
  principal: Principal,
  { type: patterns, project_id: projects, subject: subjects }: EventsFilter,
): Interest {
  const clientId = principal.platformAdministrator ? undefined : principal.clientId;
  const administers = allows(principal, 'administer');
  const types = patterns?.map(typeMatcher);
  return {
    clientId,
    subjects,
    matches: (event) =>
      (clientId === undefined || event.client_id === clientId) &&
      (projects === undefined || (event.project_id !== null && projects.includes(event.project_id))) &&
      (subjects === undefined || subjects.includes(event.subject)) &&
      (types === undefined || types.some((isMeant) => isMeant(event.type))) &&
      (administers || !isAdministrative(event.type)),
  };
}

/** `tradewind.task.*` means every type that begins with `tradewind.task.` */
export function typeMatcher(pattern: string): (type: string) => boolean {
  if (!pattern.endsWith('*')) return (type) => type === pattern;
  const beginning = pattern.slice(0, -1);
  return (type) => type.startsWith(beginning);
}
