import type { ActionResource } from '../lib/resources.ts';
import { kindOf } from './action-kinds.ts';
import { resourcesOf } from './action-of.ts';
import type { NewUserAction } from './action-store.ts';
import { eventOfOperation, resourceOf, typeOf, verbOf } from './event-types.ts';
import type { NewEvent } from './events.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** Ids in paths are not checked before a request is refused. */
const MOST_SUBJECT = 300;

/** What an event is about. */
interface Told {
  type: string;
  word: string;
  id: string | undefined;
  table: string | undefined;
  resources: { type: string; id: string; name: string | null }[];
}

/** What the work of a request reported. */
interface Noted {
  about: readonly ActionResource[];
  made: string | undefined;
}

/** Returns the event that tells of an accepted request. Contains nothing of its body. */
export function eventOf(
  request: IncomingRequest,
  action: Omit<NewUserAction, 'outcome' | 'status'>,
  noted: Noted,
): NewEvent | undefined {
  const told = toldOf(request, noted);
  if (!told) return undefined;
  const { type, id, table, resources } = told;
  const { client_id, project_id, region_id, user_id, token_id, task_id, request_id, operation } = action;
  return {
    type,
    subject: subjectOf(told),
    revised: `${table}:${id}`,
    data: JSON.stringify({
      client_id,
      project_id,
      region_id,
      resources,
      task: task_id ? { id: task_id } : null,
      actor: { user_id, client_id: request.principal.clientId, token_id },
      request_id,
      operation,
    }),
  };
}

/** Returns the event that would have told of a refused request, and what that would have been about. */
export function aimOf(request: IncomingRequest): { event_type: string; subject: string } | undefined {
  const told = toldOf(request, { about: [], made: undefined });
  return told && { event_type: told.type, subject: subjectOf(told).slice(0, MOST_SUBJECT) };
}

const subjectOf = ({ word, id }: Told): string => (id === undefined ? word : `${word}/${id}`);

function toldOf(request: IncomingRequest, { about, made }: Noted): Told | undefined {
  const kind = kindOf(request.method, request.route, request.body());
  const verb = kind && verbOf(kind.type);
  if (kind && verb !== undefined) {
    const { word, table } = resourceOf(kind.resource);
    const all = resourcesOf(request, kind, about);
    const resources = all.map((one) => ({
      type: resourceOf(one.type).word,
      id: String(one.id),
      name: one.name ?? null,
    }));
    const id = all.find((one) => one.type === kind.resource)?.id;
    return { type: typeOf(word, verb), word, table, id: id === undefined ? id : String(id), resources };
  }
  const event = eventOfOperation(request.operation);
  if (!event) return undefined;
  const { word, param, table } = event;
  const given = made ?? (param === undefined ? undefined : request.params[param]);
  const id = given === undefined ? undefined : String(given);
  const resources = id === undefined ? [] : [{ type: word, id, name: null }];
  return { type: typeOf(word, event.verb), word, table, id, resources };
}
