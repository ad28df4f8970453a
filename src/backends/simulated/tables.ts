import type { JSONColumnType } from 'kysely';

export interface SimulatedObjectTables {
  /** The objects of the simulated infrastructure. Only the simulated backend reads or writes them. */
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
  /** Where machines run, if the catalogue says how many hosts there are. */
  simulated_hosts: { machine_id: string; server_group_id: string | null; host: number };
}
