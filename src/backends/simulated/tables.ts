import type { JSONColumnType } from 'kysely';

export interface SimulatedObjectTables {
  /** What the simulated infrastructure has. Nothing but the simulated backend reads or writes it. */
  simulated_objects: {
    kind: string;
    id: string;
    spec: JSONColumnType<object>;
    doing: string;
    began_at: Date;
    takes_ms: number;
    revision: number;
    made: JSONColumnType<object> | string | null;
  };
}
