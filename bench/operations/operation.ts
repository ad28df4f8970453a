import type pg from 'pg';
import type { Api } from '../support/api.ts';

/** A request that is sent repeatedly. */
export interface MeasuredRequest {
  method: 'GET' | 'POST' | 'PATCH';
  /** Used in turn. */
  paths: readonly string[];
  /** A text that equals UNIQUE differs in each request. */
  body?: object;
  /** Sends this many requests per round instead of as many as fit in its time. */
  count?: number;
  /** Undoes the effects of the requests between the rounds. */
  reset?: () => Promise<unknown>;
}

export interface Operation {
  name: string;
  /** The minimum ratio to the floor's requests per second. */
  target: number;
  prepare(api: Api, pool: pg.Pool): Promise<MeasuredRequest>;
}
