import { type RawBuilder, sql } from 'kysely';

/** An event of an accepted request. */
export interface NewEvent {
  type: string;
  subject: string;
  /** Names the row whose revisions the transaction noted, as `table:id`. */
  revised: string;
  /** JSON. Never holds a secret. */
  data: string;
}

/** What an event tells. What is not there is null. */
interface Telling {
  client_id: number;
  project_id?: number | null;
  region_id?: number | null;
  resources: readonly { type: string; id: string; name: string | null }[];
  task?: { id: string } | null;
  actor?: { user_id: number; client_id: number; token_id: number | null } | null;
  request_id?: string | null;
  /** Of an accepted request or a command. */
  operation?: string;
  /** If nobody asked for it. */
  reason?: string;
  /** Where to read what it is about. */
  href?: string;
}

/** Returns the data of an event, but for the revision. */
export const eventData = (telling: Telling) => ({
  project_id: null,
  region_id: null,
  task: null,
  actor: null,
  request_id: null,
  ...telling,
});

type WholeEvent = NewEvent & { client_id: number; project_id: number | null };

/** The revisions that the transaction made of one row; null if none. Most make none, and the function is slow. */
const revisions = (of: RawBuilder<unknown>) => sql`
  case when coalesce(current_setting('tradewind.revisions', true), '') <> '' then noted_revisions(${of}) end`;

/**
 * Returns the statement that writes an event. It belongs to the end of the transaction, when the row that the event is
 * about is locked: events of one subject then have the order in which it changed.
 */
export const writingEvent = (event: WholeEvent): RawBuilder<{ position: number }> => sql`
  insert into events (client_id, project_id, type, subject, "time", data)
  select ${event.client_id}::bigint, ${event.project_id}::bigint, ${event.type}::text, ${event.subject}::text,
    tradewind_now(), ${event.data}::jsonb || jsonb_build_object('revision', ${revisions(sql`${event.revised}::text`)})
  returning position`;

/** Returns the statement that writes several, in their order. */
export const writingEvents = (events: readonly WholeEvent[]): RawBuilder<unknown> => sql`
  insert into events (client_id, project_id, type, subject, "time", data)
  select client_id, project_id, type, subject, tradewind_now(),
    data::jsonb || jsonb_build_object('revision', ${revisions(sql`revised`)})
  from jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as given (client_id bigint, project_id bigint, type text,
    subject text, revised text, data text)`;
