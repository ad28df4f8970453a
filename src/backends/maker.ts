import type { Sql, Transaction } from '../db/database.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { Backend, Kind } from './contract/backend.ts';
import type { BackendShape, Placements } from './contract/needs.ts';
import type { Observations, Specs } from './contract/specs.ts';

/** What a backend may use of its process. */
export interface Host {
  /** Only for the simulated backend: real infrastructure does not live in our database. */
  sql: Sql;
  secrets: Secrets;
  /** For simulated backends whose settings don't specify a speed. It may change. */
  readonly simulationSpeed: number;
  /** Where backends that run on this machine may keep what they have. */
  dataDir: string;
  /** Folders of programs, as in PATH. */
  searchPath: string;
  /** The folder with the programs of Kubernetes, in a folder for each version. */
  kubernetesDir: string;
}

/** Another state that is wanted of something that is new, or as it was wanted. It needs nothing, and nothing needs what must go. */
export interface Change<K extends Kind = Kind> {
  kind: K;
  id: string;
  /** Null: it did not exist. */
  former: Specs[K] | null;
  /** Null: it must not exist. */
  spec: Specs[K] | null;
}

export interface MadeBackend extends Backend {
  /**
   * Makes changes that take no time in the transaction that wants them, and returns what it observes of these, by ID; the
   * others are left to the workers. None of them has a secret. Only for the simulated backend, whose things are in our database.
   */
  atOnce?(tx: Transaction, changes: readonly Change[]): ReadonlyMap<string, Observations[Kind] | null>;
}

export interface BackendMaker extends BackendShape {
  /** Whether things that no want belongs to are removed automatically; otherwise an operator decides. */
  removesOrphans?: true;
  /** Makes a backend. `settings` have the maker's own shape, and all of its secrets are present. */
  make(
    given: {
      name: string;
      settings: unknown;
      secrets: Record<string, string>;
      /** Looks into the catalogue in force. */
      flavor: Placements['flavor'];
    },
    host: Host,
  ): MadeBackend;
}

/** By kind. */
export type Makers = Readonly<Record<string, BackendMaker>>;
