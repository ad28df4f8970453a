import type pg from 'pg';
import type { Api } from '../support/api.ts';

/** One request, sent over and over. */
export interface MeasuredRequest {
  method: 'GET' | 'POST' | 'PATCH';
  /** Taken in turn. */
  paths: readonly string[];
  /** A text in it that equals UNIQUE is another one in each request. */
  body?: object;
  /** Sends this many requests per round instead of as many as fit in its time. */
  count?: number;
  /** Takes back what the requests have done, between the rounds. */
  reset?: () => Promise<unknown>;
}

export interface Operation {
  name: string;
  /** The least ratio to the floor's requests per second. */
  target: number;
  prepare(api: Api, pool: pg.Pool): Promise<MeasuredRequest>;
}
