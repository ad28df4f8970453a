import type { AddressSpace, BackendShapes, Placements } from '../../../backends/contract/needs.ts';
import { InvalidError } from '../../../lib/errors.ts';
import { type CheckedCatalog, checkCatalogText, readCatalog } from './load.ts';
import { type PriceBook, priceBookOf } from './price-book.ts';
import type { DdosTemplate, Feature, Flavor, Image, LoggingService, Region } from './schema.ts';

export { leadsOutside, type Prefix, prefixOf } from './external-networks.ts';
export {
  type DatedPriceBook,
  type PriceBook,
  type PriceTerms,
  priceBooksBetween,
  priced,
  pricedPer,
} from './price-book.ts';
export type {
  CurrencyCode,
  DdosTemplate,
  Feature,
  Flavor,
  Image,
  Region,
  VolumeTypeName,
} from './schema.ts';
export { READER_IS_DEAD } from './store.ts';

export interface LoggingDestination {
  region_id: number;
  region_name: string;
}

/**
 * What the platform offers. For a region that doesn't exist, lists are empty and single items undefined. Ask again
 * each time: another catalogue may be put in force while the platform runs.
 */
export interface Catalog extends Placements, PriceBook {
  /** Equal for catalogues with the same content, whatever their comments and order of keys. */
  readonly hash: string;
  /** Its files as one JSON text, from which the hash is computed. */
  readonly text: string;
  readonly regions: ReadonlyMap<number, Region>;
  /** How many of the lowest addresses of a new subnet the backend of the region keeps for itself. */
  keptIn(regionId: number, subnet: AddressSpace): number;
  /** In the order of the file, including withdrawn flavors. */
  flavors(regionId: number): readonly Flavor[];
  flavor(regionId: number, flavorId: string): Flavor | undefined;
  /** By `display_order`. */
  images(regionId: number): readonly Image[];
  image(regionId: number, imageId: string): Image | undefined;
  /** With the leading `v`, oldest first. */
  readonly kubernetesVersions: readonly string[];
  ddosTemplates(regionId: number): readonly DdosTemplate[];
  ddosTemplate(regionId: number, templateId: number): DdosTemplate | undefined;
  /** Regions to which clusters of this region may send their logs; empty where logging isn't offered. */
  loggingDestinations(regionId: number): readonly LoggingDestination[];
  /** Log brokers of the region as `host:port`; undefined where logging isn't offered. */
  loggingHosts(regionId: number): readonly string[] | undefined;
  /** Servers that search the logs of the region, as `host:port`. */
  searchHosts(regionId: number): readonly string[];
  readonly features: ReadonlyMap<number, Feature>;
}

/**
 * Reads `catalog/*.yaml` in the folder. Throws CatalogError, which lists every fault. If `kinds` are given, backends
 * of other kinds are faults as well.
 */
export async function loadCatalog(folder: string, kinds?: BackendShapes): Promise<Catalog> {
  return buildCatalog(await readCatalog(folder, kinds), kinds);
}

/** Builds the catalogue from a text that `Catalog` gave, maybe in another release. Throws CatalogError. */
export function catalogOf(text: string, origin: string, kinds?: BackendShapes): Catalog {
  return buildCatalog(checkCatalogText(text, origin, kinds), kinds);
}

/** Builds the look-ups for checked content. */
function buildCatalog({ content, text, hash }: CheckedCatalog, kinds: BackendShapes | undefined): Catalog {
  deepFreeze(content);
  const regions = byKey(content['regions.yaml'].regions, (region) => region.id);
  const backends = byKey(content['backends.yaml'].backends, ({ name }) => name);
  const flavors = perRegion(content['flavors.yaml'].flavors, (flavor) => flavor.flavor_id);
  const inDisplayOrder = content['images.yaml'].images.toSorted((a, b) => a.display_order - b.display_order);
  const images = perRegion(inDisplayOrder, (image) => image.id);
  const templates = perRegion(content['ddos-templates.yaml'].templates, (template) => template.id);
  const logging = byKey(content['logging-destinations.yaml'].services, (service) => service.region_id);
  const destinations = new Map([...logging].map(([regionId, service]) => [regionId, destinationsOf(service, regions)]));

  const backendOf: Catalog['backendOf'] = (regionId, family) => {
    const region = regions.get(regionId);
    return backends.get(region?.backends?.[family] ?? region?.backend ?? '');
  };

  return deepFreeze({
    hash,
    text,
    backends,
    backendOf,
    regions,
    keptIn(regionId, subnet) {
      const { kind = '', settings = {} } = backendOf(regionId, 'network') ?? {};
      return kinds?.[kind]?.keeps?.(settings, subnet) ?? 0;
    },
    flavors: flavors.list,
    flavor: flavors.one,
    images: images.list,
    image: images.one,
    kubernetesVersions: content['kubernetes-versions.yaml'].versions.toSorted(compareVersions),
    ddosTemplates: templates.list,
    ddosTemplate: templates.one,
    loggingDestinations: (regionId) => destinations.get(regionId) ?? [],
    loggingHosts: (regionId) => logging.get(regionId)?.hosts,
    searchHosts: (regionId) => logging.get(regionId)?.opensearch_hosts ?? [],
    features: byKey(content['features.yaml'].features, (feature) => feature.id),
    ...priceBookOf(content['price-book.yaml']),
  } satisfies Catalog);
}

function byKey<Key, Entry>(entries: Entry[], keyOf: (entry: Entry) => Key): Map<Key, Entry> {
  return new Map(entries.map((entry) => [keyOf(entry), entry]));
}

/** Builds look-ups by region for entries that name their regions. */
function perRegion<Key, Entry extends { regions: number[] }>(entries: Entry[], keyOf: (entry: Entry) => Key) {
  const lists = new Map<number, Map<Key, Entry>>();
  for (const entry of entries) {
    for (const regionId of entry.regions) {
      const list = lists.get(regionId) ?? new Map<Key, Entry>();
      lists.set(regionId, list.set(keyOf(entry), entry));
    }
  }
  const arrays = new Map([...lists].map(([regionId, list]) => [regionId, Object.freeze([...list.values()])]));
  return {
    list: (regionId: number): readonly Entry[] => arrays.get(regionId) ?? [],
    one: (regionId: number, key: Key): Entry | undefined => lists.get(regionId)?.get(key),
  };
}

function destinationsOf(service: LoggingService, regions: Map<number, Region>): readonly LoggingDestination[] {
  const list = service.destination_regions.flatMap((id) => {
    const region = regions.get(id);
    return region ? [{ region_id: id, region_name: region.display_name }] : [];
  });
  return deepFreeze(list);
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const differing = left.findIndex((part, index) => part !== right[index]);
  return differing === -1 ? 0 : (left[differing] ?? 0) - (right[differing] ?? 0);
}

function numbersOf(version: string): number[] {
  return version.slice(1).split('.').map(Number);
}

/** Freezes the catalogue, because everybody shares it and nobody may change it. */
function deepFreeze<T extends object>(value: T): T {
  Object.freeze(value);
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null && !Object.isFrozen(part)) deepFreeze(part as object);
  }
  return value;
}

/** @throws InvalidError where the region has no logging */
export function requireLoggingHosts(catalog: Catalog, region: Region): readonly string[] {
  const hosts = catalog.loggingHosts(region.id);
  if (hosts) return hosts;
  const message = `Region ${region.display_name} doesn't offer logging; choose another region.`;
  throw new InvalidError([{ field: 'region_id', message }]);
}
