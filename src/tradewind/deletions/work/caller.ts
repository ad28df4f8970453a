import type { Transaction } from '../../../db/database.ts';
import type { ChangeRecord } from '../../../lib/request-context.ts';
import type { ActionResource } from '../../../lib/resources.ts';
import { CLIENT_DELETED, resourceOf, typeOf } from '../../../requests/event-types.ts';
import { eventData, writingEvent } from '../../../requests/events.ts';
import type { Claimed } from './store.ts';

/** Tells of what goes like after a request. The log of requests has the one that all of it follows from. */
export function recordOfDeletion(
  deletion: Claimed,
  place: { projectId: number; regionId: number | null },
): ChangeRecord {
  let about: ActionResource[] = [];
  let taskId: string | undefined;
  return {
    async before() {
      about = [];
      taskId = undefined;
    },
    async after(tx: Transaction) {
      const [first] = about;
      if (first) await tell(tx, deletion, first, { ...place, taskId });
    },
    committed() {},
    concerns() {},
    about: (resource) => void about.push(resource),
    made() {},
    started(id) {
      taskId = id;
    },
  };
}

/** Writes the event that a thing is deleted. */
export function tell(
  tx: Transaction,
  deletion: Claimed,
  { type, id, name }: ActionResource,
  place: { projectId: number; regionId: number | null; taskId: string | undefined },
): Promise<void> {
  const { word, table } = resourceOf(type);
  const gone = { event: typeOf(word, 'deleted'), word, table, id, name: name ?? null };
  return write(tx, deletion, gone, place);
}

/** Writes the event that the account is deleted. */
export function tellOfAccount(tx: Transaction, deletion: Claimed): Promise<void> {
  const gone = { event: CLIENT_DELETED, word: 'client', table: 'clients', id: deletion.clientId, name: null };
  return write(tx, deletion, gone, { projectId: null, regionId: null, taskId: deletion.taskId });
}

async function write(
  tx: Transaction,
  { clientId, userId, userClientId, requestId }: Claimed,
  gone: { event: string; word: string; table: string | undefined; id: string | number; name: string | null },
  place: { projectId: number | null; regionId: number | null; taskId: string | undefined },
): Promise<void> {
  const { word, id, name } = gone;
  await writingEvent({
    type: gone.event,
    subject: `${word}/${id}`,
    revised: `${gone.table}:${id}`,
    client_id: clientId,
    project_id: place.projectId,
    data: JSON.stringify(
      eventData({
        client_id: clientId,
        project_id: place.projectId,
        region_id: place.regionId,
        resources: [{ type: word, id: String(id), name }],
        task: place.taskId === undefined ? null : { id: place.taskId },
        actor: { user_id: userId, client_id: userClientId, token_id: null },
        request_id: requestId,
        reason: 'Its project or account is deleted with everything in it',
      }),
    ),
  }).execute(tx.sql);
}
