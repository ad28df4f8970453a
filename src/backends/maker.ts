import type { Kysely } from 'kysely';
import type { Tables } from '../db/tables.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { Backend } from './contract/backend.ts';
import type { BackendShape } from './contract/placement.ts';

/** What a backend may use of the process that it is in. */
export interface Host {
  /** For the simulated one alone: what is real doesn't live in our database. */
  sql: Kysely<Tables>;
  secrets: Secrets;
  /** For simulated backends that don't say. */
  simulationSpeed: number;
}

/** Backends of one kind. */
export interface BackendMaker extends BackendShape {
  /** Whether what belongs to no want goes by itself; elsewhere an operator decides. */
  removesOrphans?: true;
  /** `settings` are of the maker's own shape, and all of its secrets are there. */
  make(given: { name: string; settings: unknown; secrets: Record<string, string> }, host: Host): Backend;
}

/** By kind. */
export type Makers = Readonly<Record<string, BackendMaker>>;
