import type { FieldProblem } from '../lib/errors.ts';
import type { Backend, Kind } from './contract/backend.ts';
import type { Specs } from './contract/specs.ts';

/** Which backend has what. */
export interface Backends {
  of(regionId: number, kind: Kind): Backend;
  /** What of a spec its backend can't do, by field. */
  check<K extends Kind>(regionId: number, kind: K, spec: Specs[K]): FieldProblem[];
}

/** One backend for everything. */
export function onlyBackend(backend: Backend): Backends {
  return { of: () => backend, check: (_region, kind, spec) => backend.problems(kind, spec) };
}
