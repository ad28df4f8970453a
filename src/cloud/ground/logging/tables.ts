export interface LoggingTables {
  /** Logging of a project in a region, once it is initialised. */
  logging_services: {
    project_id: number;
    region_id: number;
    namespace: string;
    /** What a log broker needs to check the user's password; null until a password was requested. */
    credential: string | null;
    created_at: Date;
  };
  logging_topics: {
    project_id: number;
    region_id: number;
    name: string;
    /** Null keeps logs for ever. */
    retention_days: number | null;
    index_pattern_id: string | null;
    size_in_bytes: number;
  };
}
