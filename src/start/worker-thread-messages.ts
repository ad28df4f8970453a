import type { Troubles } from '../convergence/backend-health.ts';
import type { Storage } from './storage.ts';

/** Messages to the thread that runs tasks. */
export type ToThread =
  | { do: 'start'; storage: Pick<Storage, 'connection' | 'exclusive'> }
  | { do: 'measure' }
  | { do: 'stop'; graceMs: number };

/** Messages from that thread. */
export type FromThread =
  | { has: 'started' }
  | { has: 'measured'; metrics: string }
  | { has: 'troubles'; troubles: Troubles };
