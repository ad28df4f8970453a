import { createHash } from 'node:crypto';

/** Names are ours to prefix. Nobody owns a domain for this product, and a single label is a valid prefix. */
export const PREFIX = 'tradewind';
export const SYSTEM_NAMESPACE = 'kube-system';
/** A program that exits at its settings does so within this time, and would count as ready until then. */
export const STEADY_SECONDS = 5;
const MANAGED_BY = 'app.kubernetes.io/managed-by';
/** On everything of ours: an object without it belongs to somebody else and is never removed. */
export const OURS = { [MANAGED_BY]: PREFIX } as const;

export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  [member: string]: unknown;
}

export interface ObjectName {
  apiVersion: string;
  kind: string;
  name: string;
  namespace?: string;
}

/** What a cluster should contain. Nothing is said about objects that aren't named here. */
export interface Rendering {
  /** Applied in this order. */
  objects: KubernetesObject[];
  /** Made where they are absent, and left alone otherwise: their content belongs to the cluster's owner. */
  once: KubernetesObject[];
  /** Fields of objects that somebody else installs. They are applied only where the object is there. */
  parts: KubernetesObject[];
  /** Removed, if they are ours. */
  absent: ObjectName[];
}

export function rendering(given: Partial<Rendering>): Rendering {
  return { objects: [], once: [], parts: [], absent: [], ...given };
}

/** Returns the objects if they are wanted, and otherwise their removal in the opposite order. */
export function onlyIf(wanted: boolean, objects: () => KubernetesObject[], names: ObjectName[]): Rendering {
  return rendering(wanted ? { objects: objects() } : { absent: names.toReversed() });
}

export function combined(renderings: readonly Rendering[]): Rendering {
  return {
    objects: renderings.flatMap(({ objects }) => objects).map(labelled),
    once: renderings.flatMap(({ once }) => once).map(labelled),
    parts: renderings.flatMap(({ parts }) => parts).map(sorted),
    absent: renderings.flatMap(({ absent }) => absent),
  };
}

function labelled(object: KubernetesObject): KubernetesObject {
  const { metadata } = object;
  return sorted({ ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...OURS } } });
}

/** Sorts members by name at every depth, so that the same settings always give the same text. Lists keep their order. */
export function sorted<T>(value: T): T {
  if (Array.isArray(value)) return value.map(sorted) as T;
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]),
  ) as T;
}

/** Annotation of pod templates. A changed ConfigMap or Secret restarts nothing by itself; a changed annotation does. */
export function hashed(...configuration: unknown[]): Record<string, string> {
  return { [`${PREFIX}/configuration-hash`]: hashOf(configuration) };
}

export const hashOf = (content: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(content)))
    .digest('hex')
    .slice(0, 16);
