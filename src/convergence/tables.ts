import type { ColumnType, Generated, JSONColumnType } from 'kysely';

export interface WantTables {
  /**
   * What is wanted of infrastructure. The row of a thing that must not exist is deleted once its absence is
   * confirmed.
   */
  wants: {
    kind: string;
    id: string;
    client_id: number;
    project_id: number;
    region_id: number;
    generation: Generated<number>;
    spec: JSONColumnType<object> | null;
    after: Generated<string[]>;
    uses: Generated<string[]>;
    settled_generation: number | null;
    observed: JSONColumnType<object> | null;
    handle: JSONColumnType<object> | null;
    doing: string | null;
    failures: Generated<number>;
    due_at: Date | null;
    worker_id: string | null;
  };
  task_wants: {
    task_id: string;
    kind: string;
    want_id: string;
    generation: number;
    undo: JSONColumnType<object> | null;
  };
  want_secrets: { kind: string; want_id: string; name: string; value: ColumnType<string, string, string> };
}
