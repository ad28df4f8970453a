import { Document } from 'yaml';
import { type Fit, mappingsIn, type Optional } from '../../openstack/index.ts';
import type { PrefixEntry } from '../cloud/ground/catalog/schema.ts';
import type { Catalog } from '../cloud/ground/catalog/service.ts';
import { addressAt, numberOf } from '../lib/ip-addresses.ts';
import { subnetRange } from '../lib/subnet-ranges.ts';
import { offsetTimestamp } from '../lib/time.ts';
import { asText, backendsDocument, documentOf, type Files } from './catalog-files.ts';

/* What a new region adds to the files of the catalogue. */

/** The network that public addresses come from, with its ID in the cloud. */
export interface Outside {
  id: string;
  name: string;
  prefixes: PrefixEntry[];
}

export interface NewRegion {
  id: number;
  name: string;
  slug: string;
  /** The file, and which cloud of it. */
  clouds: string;
  cloud: string;
  outside: Outside;
  fit: Fit;
  /** The services of the cloud that others lack. */
  optional: Optional[];
}

interface Subnet {
  cidr: string;
  gateway_ip: string | null;
  allocation_pools: readonly { start: string; end: string }[];
}

/**
 * Returns the addresses of a subnet that are ours to give out: the largest range that none of Neutron's allocation pools has, as
 * Neutron would give an address of theirs to somebody else. Undefined if the pools have all.
 */
export function prefixIn({ cidr, gateway_ip: gateway, allocation_pools: pools }: Subnet): PrefixEntry | undefined {
  const range = subnetRange(cidr);
  // Its fault is told with the prefix.
  if ('message' in range) return { cidr, gateway };
  const taken = pools.map(({ start, end }) => [numberOf(start), numberOf(end)] as const);
  if (gateway !== null) taken.push([numberOf(gateway), numberOf(gateway)]);
  let [first, last] = [0n, -1n];
  let from = numberOf(range.firstHost);
  const end = numberOf(range.lastHost) + 1n;
  for (const [start, stop] of [...taken, [end, end] as const].toSorted(([one], [other]) => Number(one - other))) {
    if (start - from > last - first + 1n) [first, last] = [from, start - 1n];
    if (stop >= from) from = stop + 1n;
  }
  if (last < first) return undefined;
  return { cidr, gateway, first: addressAt(first, range.family), last: addressAt(last, range.family) };
}

/** Returns a name for URLs. */
export function slugOf(name: string, id: number): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9\s_-]/g, '');
  const slug = plain
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replaceAll(/^-|-$/g, '');
  return slug || `region-${id}`;
}

/** Returns the files that have to be written, and the new entries as text. */
export function filesWith(
  folder: string,
  { backends }: Pick<Catalog, 'backends'>,
  region: NewRegion,
): { backend: string; entries: string; files: Files } {
  const { id, slug, fit } = region;
  const backend = backends.has(slug) ? `${slug}-${id}` : slug;
  const files = new Map<string, string>();
  const entries: string[] = [];
  const add = (document: Document, file: string, list: string, entry: object) => {
    const node = document.createNode(entry);
    node.spaceBefore = file === 'regions.yaml';
    document.addIn([list], node);
    files.set(file, asText(document));
    node.spaceBefore = false;
    const alone = new Document({ [list]: [] });
    alone.addIn([list], node);
    entries.push(`# ${file}\n${asText(alone).trimEnd()}`);
  };
  const backendFile = backendsDocument(folder);
  add(backendFile, 'backends.yaml', 'backends', backendEntry(backendFile, region, backend));
  const regionFile = documentOf(folder, 'regions.yaml');
  add(regionFile, 'regions.yaml', 'regions', regionEntry(regionFile, region, backend));
  offer('flavors', [...fit.flavors.found, ...fit.loadBalancerFlavors.found], ({ flavor_id }) => flavor_id);
  offer('images', fit.images.found, (image) => image.id);
  return { backend, entries: entries.join('\n'), files };

  /** Adds the region to those that offer it. */
  function offer(
    list: string,
    found: Fit['flavors']['found'],
    idOf: (entry: Record<string, unknown>) => unknown,
  ): void {
    if (found.length === 0) return;
    const document = documentOf(folder, `${list}.yaml`);
    for (const [index, entry] of (document.toJS()[list] as Record<string, unknown>[]).entries())
      if (found.some((one) => one.id === idOf(entry))) document.addIn([list, index, 'regions'], id);
    files.set(`${list}.yaml`, asText(document));
    entries.push(`# ${list}.yaml: region ${id} is added to ${found.map((one) => one.id).join(', ')}`);
  }
}

/** Load balancers take addresses of each subnet where they or their members are. */
const KEPT_FOR_AMPHORAE = 20;

/** Settings that a reader takes in at a glance are in one line. */
const flow = (document: Document, value: object) => document.createNode(value, { flow: true });

function backendEntry(document: Document, { clouds, cloud, outside, fit, optional }: NewRegion, name: string): object {
  const mappings = Object.entries(mappingsIn(fit)).map(([kind, mapping]) => [kind, flow(document, mapping)]);
  return {
    ...{ name, kind: 'openstack' },
    secrets: flow(document, { clouds }),
    settings: {
      ...{ cloud, external_network: outside.id, ...Object.fromEntries(mappings) },
      ...(optional.includes('octavia') && { kept_addresses: KEPT_FOR_AMPHORAE }),
      ...(optional.length > 0 && { services: flow(document, optional) }),
    },
  };
}

function regionEntry(document: Document, region: NewRegion, backend: string): object {
  const { id, name, slug, outside, fit } = region;
  const prefixes = outside.prefixes;
  return {
    id,
    display_name: name,
    keystone_name: slug,
    keystone_id: id,
    slug,
    state: 'ACTIVE',
    access_level: 'core',
    endpoint_type: 'public',
    country: 'ZZ',
    zone: null,
    coordinates: null,
    backend,
    products: flow(document, []),
    available_volume_types: flow(
      document,
      fit.volumeTypes.found.map((one) => one.id),
    ),
    file_share_types: null,
    external_network_id: outside.id,
    external_networks: [{ id: outside.id, name: outside.name, prefixes: flow(document, prefixes) }],
    metrics_database_id: null,
    ddos_endpoint_id: null,
    vlan_physical_network: 'vlan',
    has_ai: false,
    has_ai_gpu: false,
    has_baremetal: false,
    has_basic_vm: true,
    has_dbaas: false,
    has_ddos: false,
    has_k8s: false,
    has_kvm: true,
    has_sfs: false,
    created_at: offsetTimestamp(new Date()),
  };
}
