import type { Troubles } from '../convergence/backend-health.ts';
import type { Storage } from './storage.ts';

/** What the thread that takes tasks is told. */
export type ToThread =
  | { do: 'start'; storage: Pick<Storage, 'connection' | 'exclusive'> }
  | { do: 'measure' }
  | { do: 'stop'; graceMs: number };

/** What it tells. */
export type FromThread =
  | { has: 'started' }
  | { has: 'measured'; metrics: string }
  | { has: 'troubles'; troubles: Troubles };
