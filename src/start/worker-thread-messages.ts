import type { Storage } from './storage.ts';

/** What the thread that takes tasks is told. */
export type ToThread =
  | { do: 'start'; storage: Pick<Storage, 'connection' | 'exclusive'> }
  | { do: 'stop'; graceMs: number };

/** What it tells. */
export interface FromThread {
  has: 'started';
}
