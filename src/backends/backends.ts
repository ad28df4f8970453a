import type { Transaction } from '../db/database.ts';
import { type FieldProblem, SettingError } from '../lib/errors.ts';
import { readSecretFile } from '../lib/secret-file.ts';
import { type Backend, type Kind, type Offer, Unavailable } from './contract/backend.ts';
import { BACKEND_FAMILIES, type BackendEntry, familyOf, type Placements } from './contract/needs.ts';
import type { Specs } from './contract/specs.ts';
import type { Change, Host, MadeBackend, Makers } from './maker.ts';

/**
 * Reads the files of the secrets, without the final line break, by name.
 * @throws SettingError naming each file that can't be used
 */
export function readSecrets({ name, secrets }: BackendEntry): Record<string, string> {
  const problems: string[] = [];
  const texts: Record<string, string> = {};
  for (const [secret, file] of Object.entries(secrets)) {
    const read = readSecretFile(file);
    if ('text' in read) texts[secret] = read.text;
    else problems.push(`backends.yaml: secret ${secret} of backend ${name}: ${file} ${read.problem}`);
  }
  if (problems.length > 0) throw new SettingError(problems.join('\n'));
  return texts;
}

/** Finds the backend of a region for a kind. */
export interface Backends extends Offer {
  /** @throws Unavailable for a region that is no longer in the catalogue */
  of(regionId: number, kind: Kind): Backend;
  /** Returns what the region's backend can't do of a spec, by field. */
  check<K extends Kind>(regionId: number, kind: K, spec: Specs[K]): FieldProblem[];
  /** Makes those of the changes that their backends make at once. Returns what these observe, by ID. */
  atOnce(tx: Transaction, changes: readonly (Change & { regionId: number })[]): Map<string, object | null>;
}

export interface NamedBackend {
  name: string;
  backend: Backend;
  removesOrphans: boolean;
  /** Returns the regions in which the backend has things of the kind. */
  regionsOf(kind: Kind): number[];
  isIn(regionId: number): boolean;
}

export interface BackendRouter extends Backends {
  all(): NamedBackend[];
  /**
   * Switches to another catalogue. Backends whose entries are the same are kept; the others are made again.
   * @throws SettingError for secrets that can't be read; nothing has changed then
   */
  adopt(catalog: Placements): void;
}

/** Makes the backends that a catalogue names. There are none until the first catalogue is adopted. */
export function createBackends(makers: Makers, host: Host): BackendRouter {
  let current: Placements = {
    backends: new Map(),
    regions: new Map(),
    backendOf: () => undefined,
    flavor: () => undefined,
  };
  let made = new Map<string, MadeBackend>();

  function make(entry: BackendEntry): MadeBackend {
    const maker = makers[entry.kind];
    // Catalogues are checked against the makers when they are read.
    if (!maker) throw new Error(`There are no backends of the kind ${entry.kind}`);
    const flavor: Placements['flavor'] = (regionId, id) => current.flavor(regionId, id);
    return maker.make({ ...entry, flavor, secrets: readSecrets(entry) }, host);
  }

  const backendOf = (entry: BackendEntry): Backend => {
    const backend = made.get(keyOf(entry));
    if (!backend) throw new Error(`Backend ${entry.name} has not been made`);
    return backend;
  };

  function backendIn(regionId: number, kind: Kind): Backend | undefined {
    const entry = current.backendOf(regionId, familyOf(kind));
    return entry && backendOf(entry);
  }

  function of(regionId: number, kind: Kind): Backend {
    const backend = backendIn(regionId, kind);
    if (!backend) throw new Unavailable(`Region ${regionId} is not in the catalogue`);
    return backend;
  }

  return {
    of,
    check: (regionId, kind, spec) => of(regionId, kind).problems(kind, spec),
    atOnce(tx, changes) {
      const observed = new Map<string, object | null>();
      for (const backend of made.values()) {
        const own = changes.filter(({ regionId, kind }) => backendIn(regionId, kind) === backend);
        const seen = own.length > 0 ? backend.atOnce?.(tx, own) : undefined;
        for (const [id, of] of seen ?? []) observed.set(id, of);
      }
      return observed;
    },
    clusterVersions(regionId, offered) {
      const known = of(regionId, 'cluster').clusterVersions?.();
      return offered.filter((version) => known?.includes(version) ?? true);
    },
    all: () =>
      [...current.backends.values()].map((entry) => ({
        name: entry.name,
        backend: backendOf(entry),
        removesOrphans: makers[entry.kind]?.removesOrphans ?? false,
        regionsOf: (kind) =>
          [...current.regions.keys()].filter((id) => current.backendOf(id, familyOf(kind))?.name === entry.name),
        isIn: (regionId) => BACKEND_FAMILIES.some((family) => current.backendOf(regionId, family)?.name === entry.name),
      })),
    adopt(catalog) {
      const entries = [...catalog.backends.values()].map((entry) => [keyOf(entry), entry] as const);
      made = new Map(entries.map(([key, entry]) => [key, made.get(key) ?? make(entry)]));
      current = catalog;
    },
  };
}

/** Returns the same, but of all backends only those that have something in one of the regions. */
export const backendsIn = (backends: BackendRouter, regionIds: readonly number[]): BackendRouter => ({
  ...backends,
  all: () => backends.all().filter((one) => regionIds.some((id) => one.isIn(id))),
});

const keyOf = (entry: BackendEntry): string => JSON.stringify(entry);
