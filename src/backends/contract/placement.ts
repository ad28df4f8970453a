import type { TSchema } from 'typebox';
import type { Kind } from './backend.ts';

/** The kinds of things in each family. */
export const FAMILIES = {
  network: [
    'network',
    'subnet',
    'router',
    'port',
    'security_group',
    'floating_ip',
    'load_balancer',
    'ddos_profile',
    'secret',
  ],
  compute: ['machine', 'server_group'],
  storage: ['volume', 'snapshot', 'image'],
  kubernetes: ['cluster'],
  file_share: ['file_share'],
} as const satisfies Record<BackendFamily, readonly Kind[]>;

/** Kinds that hold data of which there is no other copy. */
const HOLDING_DATA: ReadonlySet<Kind> = new Set(['volume', 'snapshot', 'image', 'file_share', 'cluster']);

export const holdsData = (kind: Kind): boolean => HOLDING_DATA.has(kind);

const families = new Map(
  Object.entries(FAMILIES).flatMap(([family, kinds]) =>
    kinds.map((kind) => [kind, family as BackendFamily] as const),
  ),
) as ReadonlyMap<Kind, BackendFamily>;

export function familyOf(kind: Kind): BackendFamily {
  const family = families.get(kind);
  if (!family) throw new Error(`${kind} belongs to no family`);
  return family;
}

/** A backend as the catalogue describes it. */
export interface BackendEntry {
  name: string;
  /** The kind of backend, e.g. `simulated`. */
  kind: string;
  settings: Record<string, unknown>;
  /** Absolute paths of the files that contain the secrets, by secret name. */
  secrets: Record<string, string>;
}

/** What a catalogue must specify for backends of a kind. */
export interface BackendShape {
  settings: TSchema;
  /** Names of the secrets that the backend needs. */
  secrets: readonly string[];
  /** What the backend can do; everything by default. */
  families?: readonly BackendFamily[];
}
export type BackendShapes = Readonly<Record<string, BackendShape>>;

/** Which backend serves which region and family. */
export interface Placements {
  readonly backends: ReadonlyMap<string, BackendEntry>;
  readonly regions: ReadonlyMap<number, unknown>;
  /** Returns undefined for a region that does not exist. */
  backendOf(regionId: number, family: BackendFamily): BackendEntry | undefined;
  /** Memory is in MiB. Returns undefined for a flavor that the region does not have. */
  flavor(regionId: number, flavorId: string): { vcpus: number; ram: number } | undefined;
}

/** Groups of kinds that a region assigns to a backend together. */
export const BACKEND_FAMILIES = ['network', 'compute', 'storage', 'kubernetes', 'file_share'] as const;
export type BackendFamily = (typeof BACKEND_FAMILIES)[number];
