import { type RawBuilder, sql } from 'kysely';

export { presentPosition, startReading } from './reader.ts';
export {
  eventOfCommand,
  eventOfOperation,
  RECORDED_COMMANDS,
  resourceOf,
  TASK_EVENTS,
  typeOf,
  verbOf,
  WEBHOOK_DISABLED,
} from './types.ts';

/** An event of an accepted request. */
export interface NewEvent {
  type: string;
  subject: string;
  /** Names the row whose revisions the transaction noted, as `table:id`. */
  revised: string;
  /** JSON. Never holds a secret. */
  data: string;
}

/**
 * Returns the statement that writes an event. It belongs to the end of the transaction, when the row that the event is
 * about is locked: events of one subject then have the order in which it changed.
 */
export const writingEvent = (
  event: NewEvent & { client_id: number; project_id: number | null },
): RawBuilder<{ position: number }> => sql`
  insert into events (client_id, project_id, type, subject, "time", data)
  select ${event.client_id}::bigint, ${event.project_id}::bigint, ${event.type}::text, ${event.subject}::text,
    tradewind_now(), ${event.data}::jsonb || jsonb_build_object('revision', noted_revisions(${event.revised}::text))
  returning position`;
