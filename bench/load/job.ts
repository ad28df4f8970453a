/** What the load generator sends repeatedly. */
export interface LoadJob {
  /** Of servers that share the work; connections use them in turn. */
  ports: readonly number[];
  connections: number;
  /** Duration; or, with `count`, the number of requests. */
  ms: number;
  count?: number;
  method: string;
  /** Used in turn. */
  paths: readonly string[];
  headers: Record<string, string>;
  /** Sent unchanged, but each UNIQUE in it is replaced by a text that no other request has. */
  body?: string;
  /** How long a connection waits after a 503. Without it, a 503 is a failure. */
  refusedMs?: number;
}

export interface LoadResult {
  /** Those that were not refused; the times are theirs. */
  requests: number;
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p95: number;
  p99: number;
  /** Answered by 503. */
  refused: number;
  refusedP95: number;
  /** The first answer that wasn't 2xx, if any. */
  failure?: string;
}

/** Stands for a text of the same length that differs in every request. */
export const UNIQUE = 'bench-000000000000';

export function uniqueText(n: number): string {
  return `bench-${n.toString(16).padStart(12, '0')}`;
}
