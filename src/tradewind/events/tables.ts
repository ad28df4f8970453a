import type { Generated, JSONColumnType } from 'kysely';

export interface EventTables {
  /** What happened, in the order in which it is told. */
  events: {
    position: Generated<number>;
    id: Generated<string>;
    client_id: number;
    project_id: number | null;
    type: string;
    subject: string;
    time: Date;
    data: JSONColumnType<object>;
  };
  /** One row: the last position that was deleted. */
  forgotten_events: { position: number };
  /** How far those have read who must miss nothing, however long they are away. */
  event_readers: {
    name: string;
    position: number;
    /** Whether anybody wants what it reads. */
    active: boolean;
  };
}
