import type { Offered } from '../src/backends/contract/backend.ts';
import type { CloudFlavor, CloudImage, Inventory } from './inspection.ts';
import type { Mappings } from './names.ts';
import { idIn } from './resource.ts';

/* What of the catalogue is what in the cloud. */

/** What a catalogue has for a new region. */
export interface Wanted {
  /** `ram` is in MiB. */
  flavors: readonly { id: string; vcpus: number; ram: number }[];
  images: readonly { id: string; name: string; osDistro: string; osVersion: string; architecture: string }[];
  volumeTypes: readonly string[];
  /** The first one will do for a load balancer of the cloud's own choice; none are wanted where the cloud balances no load. */
  loadBalancerFlavors: readonly string[];
}

/** Something of the catalogue that the cloud has, too: our ID, the cloud's ID, and its name in the cloud. */
export interface Found {
  id: string;
  theirs: string;
  name: string;
  by: 'default' | 'distribution' | 'ID' | 'name' | 'size';
}

/** Of each kind, what the cloud has, and the names of what it doesn't have. */
export type Fit = Record<
  'flavors' | 'images' | 'loadBalancerFlavors' | 'volumeTypes',
  { found: Found[]; without: string[] }
>;

/** The type that Cinder gives by default is this one, if no type is called like one of ours. */
const ORDINARY_TYPE = 'standard';

/** Finds what the catalogue has in the cloud. */
export function fitOf(wanted: Wanted, inventory: Inventory): Fit {
  return {
    flavors: compared(wanted.flavors, ({ id }) => id, flavorIn(inventory.flavors)),
    images: compared(wanted.images, ({ name }) => name, imageIn(inventory)),
    volumeTypes: volumeTypesIn(wanted.volumeTypes, inventory),
    loadBalancerFlavors: loadBalancerFlavorsIn(wanted.loadBalancerFlavors, inventory),
  };
}

function compared<T extends { id: string }>(
  wanted: readonly T[],
  nameOf: (one: T) => string,
  find: (one: T) => Omit<Found, 'id'> | undefined,
): Fit['flavors'] {
  const pairs = wanted.map((one) => ({ one, theirs: find(one) }));
  return {
    found: pairs.flatMap(({ one, theirs }) => (theirs ? [{ id: one.id, ...theirs }] : [])),
    without: pairs.flatMap(({ one, theirs }) => (theirs ? [] : [nameOf(one)])),
  };
}

const isSame = (one: string | null | undefined, other: string): boolean => one?.toLowerCase() === other.toLowerCase();

/** By ID or name, else the plainest one of the same size: machines boot from volumes, so a disk of its own is a waste. */
const flavorIn =
  (all: readonly CloudFlavor[]) =>
  ({ id, vcpus, ram }: Wanted['flavors'][number]): Omit<Found, 'id'> | undefined => {
    const own = all.find((one) => one.id === id);
    if (own) return { theirs: own.id, name: own.name, by: 'ID' };
    const named = all.find((one) => isSame(one.id, id) || isSame(one.name, id));
    if (named) return { theirs: named.id, name: named.name, by: 'name' };
    const [sized] = all
      .filter((one) => one.vcpus === vcpus && one.ram === ram && !isSpecial(one))
      .toSorted((one, other) => one.disk - other.disk || one.name.localeCompare(other.name));
    return sized && { theirs: sized.id, name: sized.name, by: 'size' };
  };

/** Whether it is for bare metal, or has a GPU or another device. */
const isSpecial = ({ extra_specs: specs = {} }: CloudFlavor): boolean =>
  Object.keys(specs).some((name) => /^(resources|pci_passthrough|accel)/.test(name));

/** By ID or name, else by what the image says of its system; of several the public one, then the newest. */
const imageIn = ({ images, projectId }: Inventory) => {
  const fit = images
    .filter(({ status, os_hidden }) => status === 'active' && !os_hidden)
    .filter(({ visibility, owner }) => visibility !== 'private' || owner === projectId)
    .filter(({ tags }) => !tags.some((tag) => idIn(tag, 'image') !== undefined))
    .toSorted((one, other) => rank(one) - rank(other) || other.created_at.localeCompare(one.created_at));
  return ({ id, name, osDistro, osVersion, architecture }: Wanted['images'][number]) => {
    const own = fit.find((one) => one.id === id);
    if (own) return { theirs: own.id, name: own.name ?? own.id, by: 'ID' as const };
    const named = fit.find((one) => isSame(one.name, name));
    if (named) return { theirs: named.id, name: named.name ?? named.id, by: 'name' as const };
    const alike = fit.find(
      (one) =>
        isSame(one.os_distro, osDistro) &&
        isSame(one.os_version, osVersion) &&
        isSame(one.architecture ?? architecture, architecture),
    );
    return alike && { theirs: alike.id, name: alike.name ?? alike.id, by: 'distribution' as const };
  };
};

const RANKS = ['public', 'community', 'shared', 'private'];
const rank = ({ visibility }: CloudImage): number => RANKS.indexOf(visibility);

function volumeTypesIn(wanted: readonly string[], { volumeTypes, defaultVolumeType }: Inventory): Fit['volumeTypes'] {
  const found = wanted.flatMap((id): Found[] => {
    const theirs = volumeTypes.find((one) => one === id) ?? volumeTypes.find((one) => isSame(one, id));
    return theirs === undefined ? [] : [{ id, theirs, name: theirs, by: theirs === id ? 'ID' : 'name' }];
  });
  if (found.length === 0 && defaultVolumeType !== undefined && wanted.includes(ORDINARY_TYPE))
    found.push({ id: ORDINARY_TYPE, theirs: defaultVolumeType, name: defaultVolumeType, by: 'default' });
  return { found, without: wanted.filter((id) => !found.some((one) => one.id === id)) };
}

function loadBalancerFlavorsIn(wanted: readonly string[], { loadBalancerFlavors: all }: Inventory): Fit['flavors'] {
  const find = (id: string) => all.find(({ name }) => isSame(name, id));
  const fit = compared(
    wanted.map((id) => ({ id })),
    ({ id }) => id,
    ({ id }) => {
      const named = find(id);
      return named && { theirs: named.id, name: named.name, by: 'name' };
    },
  );
  const [first] = wanted;
  if (fit.found.length > 0 || first === undefined) return fit;
  return { found: [{ id: first, theirs: first, name: first, by: 'default' }], without: wanted.slice(1) };
}

/** Returns the mappings for the backend's settings. IDs that are the same on both sides need none. */
export function mappingsIn(
  fit: Fit,
): Partial<Record<'flavors' | 'images' | 'load_balancer_flavors' | 'volume_types', Record<string, string>>> {
  const kinds = [
    ['flavors', fit.flavors],
    ['images', fit.images],
    ['volume_types', fit.volumeTypes],
    ['load_balancer_flavors', fit.loadBalancerFlavors],
  ] as const;
  return Object.fromEntries(
    kinds.flatMap(([name, { found }]) => {
      const other = found.filter(({ id, theirs }) => id !== theirs);
      return other.length === 0 ? [] : [[name, Object.fromEntries(other.map(({ id, theirs }) => [id, theirs]))]];
    }),
  );
}

/** Returns a sentence for each kind of which the catalogue offers something that the cloud doesn't have any more. */
export function lostOf(mappings: Mappings, offered: Offered, inventory: Inventory): string[] {
  const usable = inventory.images.filter(({ status }) => status === 'active');
  const kinds: [string, readonly string[], Record<string, string>, string[]][] = [
    ['flavors', offered.flavors, mappings.flavors, inventory.flavors.map(({ id }) => id)],
    ['images', offered.images, mappings.images, usable.map(({ id }) => id)],
    ['volume types', offered.volumeTypes, mappings.volumeTypes, inventory.volumeTypes],
    [
      'flavors of load balancers',
      Object.keys(mappings.loadBalancerFlavors),
      mappings.loadBalancerFlavors,
      inventory.loadBalancerFlavors.map(({ id }) => id),
    ],
    ['external networks', offered.networks, mappings.networks, inventory.externalNetworks.map(({ id }) => id)],
  ];
  return kinds.flatMap(([what, ours, mapping, theirs]) => {
    const gone = ours.filter((id) => !theirs.includes(mapping[id] ?? id));
    const named = gone.map((id) => (mapping[id] === undefined ? id : `${id} (${mapping[id]} in the cloud)`));
    return gone.length === 0 ? [] : [`the catalogue offers ${what} that the cloud doesn't have: ${named.join(', ')}`];
  });
}
