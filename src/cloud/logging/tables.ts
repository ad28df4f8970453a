export interface LoggingTables {
  /** Logging of a project in a region, from its initialisation on. */
  logging_services: {
    project_id: number;
    region_id: number;
    namespace: string;
    /** What a log broker checks the user's password by; null until a password was asked for. */
    credential: string | null;
    created_at: Date;
  };
  logging_topics: {
    project_id: number;
    region_id: number;
    name: string;
    /** Null keeps for ever. */
    retention_days: number | null;
    index_pattern_id: string | null;
    size_in_bytes: number;
  };
}
