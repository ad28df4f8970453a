import type { Kind } from '../../../backends/contract/backend.ts';
import type { PortSpec, Specs } from '../../../backends/contract/specs.ts';
import { isBareMetal } from '../../ground/catalog/flavor-schema.ts';
import type { Use } from '../costs/service.ts';
import type { Sizes } from './store.ts';

export type Used = Omit<Use, 'region_id'>;

/** What has to be looked up for `usesOf`. */
export interface Known {
  publicSubnets: ReadonlySet<string>;
  sizes: ReadonlyMap<string, Sizes>;
}

type UsesOf = { [K in Kind]?: (spec: Specs[K], id: string, known: Known) => Used[] };

/** What costs something of each kind of thing: the same as is metered when it is there. */
const USES: UsesOf = {
  cluster: ({ pools }, _, known) =>
    nodesOf(pools).flatMap(({ flavorId, bootVolume, ports }) => [
      machine(flavorId),
      ...(bootVolume ? [volume(bootVolume.type, bootVolume.sizeGib)] : []),
      ...ports.flatMap((port) => publicAddresses(port, known)),
    ]),
  file_share: ({ type, sizeGib }) => [{ type: 'file_share', sku: type, amount: sizeGib }],
  floating_ip: () => [{ type: 'floatingip', sku: '', amount: 1 }],
  image: sized,
  load_balancer: ({ flavorId }) => [{ type: 'load_balancer', sku: flavorId, amount: 1 }],
  machine: ({ flavorId }) => [machine(flavorId)],
  port: (spec, _, known) => publicAddresses(spec, known),
  snapshot: sized,
  volume: ({ volumeType, sizeGib }) => [volume(volumeType, sizeGib)],
};

/** Returns what a thing in this state uses; nothing if it must not exist. */
export function usesOf(kind: Kind, id: string, spec: object | null | undefined, known: Known): Used[] {
  const uses = USES[kind] as ((spec: object, id: string, known: Known) => Used[]) | undefined;
  return spec && uses ? uses(spec, id, known) : [];
}

/** Returns the subnets of the addresses in a spec. */
export function subnetsOf(kind: Kind, spec: object | null | undefined): string[] {
  return portsOf(kind, spec).flatMap(({ addresses }) =>
    Object.values(addresses).map(({ subnetId }) => subnetId),
  );
}

function portsOf(kind: Kind, spec: object | null | undefined): PortSpec[] {
  if (!spec) return [];
  if (kind === 'port') return [spec as PortSpec];
  if (kind === 'cluster') return nodesOf((spec as Specs['cluster']).pools).flatMap(({ ports }) => ports);
  return [];
}

/** Returns the nodes of all pools, with what they have from their pool. */
function nodesOf(pools: Specs['cluster']['pools']) {
  return Object.values(pools).flatMap(({ flavorId, bootVolume, nodes }) =>
    Object.values(nodes).map(({ ports }) => ({ flavorId, bootVolume, ports: Object.values(ports) })),
  );
}

function machine(flavorId: string): Used {
  return { type: isBareMetal(flavorId) ? 'baremetal' : 'instance', sku: flavorId, amount: 1 };
}

function volume(volumeType: string, sizeGib: number): Used {
  return { type: 'volume', sku: volumeType, amount: sizeGib };
}

function publicAddresses({ addresses }: PortSpec, { publicSubnets }: Known): Used[] {
  return Object.entries(addresses)
    .filter(([address, { subnetId }]) => !address.includes(':') && publicSubnets.has(subnetId))
    .map(() => ({ type: 'external_ip', sku: '', amount: 1 }));
}

function sized(_: object, id: string, { sizes }: Known): Used[] {
  const size = sizes.get(id);
  return size ? [size] : [];
}
