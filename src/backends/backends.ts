import type { FieldProblem } from '../lib/errors.ts';
import { type Backend, type Kind, Unavailable } from './contract/backend.ts';
import { type BackendEntry, familyOf, type Placements } from './contract/placement.ts';
import type { Specs } from './contract/specs.ts';
import type { Host, Makers } from './maker.ts';
import { readSecrets } from './secrets.ts';

/** Which backend has what. */
export interface Backends {
  /** @throws Unavailable for a region that the catalogue has no more */
  of(regionId: number, kind: Kind): Backend;
  /** What of a spec its backend can't do, by field. */
  check<K extends Kind>(regionId: number, kind: K, spec: Specs[K]): FieldProblem[];
}

/** A backend with its name. */
export interface NamedBackend {
  name: string;
  backend: Backend;
  removesOrphans: boolean;
  /** Regions where it has things of the kind. */
  regionsOf(kind: Kind): number[];
}

export interface BackendRouter extends Backends {
  /** Every backend of the catalogue. */
  all(): NamedBackend[];
  /**
   * Goes by another catalogue from now on. What it says the same stays as it is, and what it says anew is made.
   * @throws SettingError for secrets that can't be read; all is as before then
   */
  adopt(catalog: Placements): void;
}

/** The backends that a catalogue names. None is there before the first is adopted. */
export function createBackends(makers: Makers, host: Host): BackendRouter {
  let current: Placements = { backends: new Map(), regions: new Map(), backendOf: () => undefined };
  let made = new Map<string, Backend>();

  function make(entry: BackendEntry): Backend {
    const maker = makers[entry.kind];
    // Catalogues are held against the makers when they are read.
    if (!maker) throw new Error(`There are no backends of the kind ${entry.kind}`);
    return maker.make({ ...entry, secrets: readSecrets(entry) }, host);
  }

  const backendOf = (entry: BackendEntry): Backend => {
    const backend = made.get(keyOf(entry));
    if (!backend) throw new Error(`Backend ${entry.name} has not been made`);
    return backend;
  };

  function of(regionId: number, kind: Kind): Backend {
    const entry = current.backendOf(regionId, familyOf(kind));
    if (!entry) throw new Unavailable(`Region ${regionId} is not in the catalogue`);
    return backendOf(entry);
  }

  return {
    of,
    check: (regionId, kind, spec) => of(regionId, kind).problems(kind, spec),
    all: () =>
      [...current.backends.values()].map((entry) => ({
        name: entry.name,
        backend: backendOf(entry),
        removesOrphans: makers[entry.kind]?.removesOrphans ?? false,
        regionsOf: (kind) =>
          [...current.regions.keys()].filter(
            (id) => current.backendOf(id, familyOf(kind))?.name === entry.name,
          ),
      })),
    adopt(catalog) {
      const entries = [...catalog.backends.values()].map((entry) => [keyOf(entry), entry] as const);
      made = new Map(entries.map(([key, entry]) => [key, made.get(key) ?? make(entry)]));
      current = catalog;
    },
  };
}

const keyOf = (entry: BackendEntry): string => JSON.stringify(entry);
