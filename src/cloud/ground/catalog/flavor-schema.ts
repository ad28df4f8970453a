import { type Static, Type } from 'typebox';
import { IntegerOrNull, listOf, TextOrNull } from '../../../lib/wire.ts';
import { type Flavor, flavorFields, NO_PRICE_ASKED, type OfferPrice, priceFields } from './schema.ts';

const { architecture, os_type, disabled, hardware_description, ...size } = flavorFields;
const shared = {
  ...size,
  flavor_name: Type.String({ description: 'Same as flavor_id' }),
  architecture,
  os_type,
  disabled,
};

export const FlavorAnswer = Type.Object(
  { ...shared, hardware_description, ...Type.Partial(Type.Object(priceFields)).properties },
  { title: 'InstanceFlavor', description: 'A flavor for instances. Prices are included only on request.' },
);
export type FlavorAnswer = Static<typeof FlavorAnswer>;
export const FlavorList = listOf(FlavorAnswer, 'InstanceFlavorList');

export const KubernetesFlavorAnswer = Type.Object(
  {
    ...shared,
    resource_class: TextOrNull({ description: 'Hardware type, for bare metal and GPU flavors' }),
    hardware_description,
    capacity: IntegerOrNull({ description: 'Machines available; null if not counted' }),
    reserved_capacity: IntegerOrNull({ description: 'Machines reserved; null if not counted' }),
    ...priceFields,
  },
  { title: 'KubernetesFlavor', description: 'A flavor for node pools of clusters.' },
);
export type KubernetesFlavorAnswer = Static<typeof KubernetesFlavorAnswer>;
export const KubernetesFlavorList = listOf(KubernetesFlavorAnswer, 'KubernetesFlavorList');

/** Presents a flavor, with its price if the request asks for prices. */
export function presentFlavor(flavor: Flavor, price: OfferPrice | undefined): FlavorAnswer {
  return { ...sharedOf(flavor), ...price };
}

export function presentKubernetesFlavor(flavor: Flavor, price: OfferPrice | undefined): KubernetesFlavorAnswer {
  return {
    resource_class: flavor.resource_class,
    ...sharedOf(flavor),
    // Nothing limits the number of simulated machines.
    capacity: null,
    reserved_capacity: null,
    ...(price ?? NO_PRICE_ASKED),
  };
}

function sharedOf(flavor: Flavor) {
  const { resource_class: _, regions: __, offered_for: ___, ...shown } = flavor;
  return { flavor_name: flavor.flavor_id, ...shown, hardware_description: hardwareOf(flavor) };
}

/** Describes the machine: what the catalogue says, and what follows from the flavor's size. */
export function hardwareOf({
  vcpus,
  ram,
  hardware_description,
}: Pick<Flavor, 'vcpus' | 'ram' | 'hardware_description'>): Record<string, string> {
  return { vcpus: `${vcpus}`, ram: `${ram / 1024} GiB`, ...hardware_description };
}

/** Whether the ID is that of a bare metal flavor. Such machines can't choose a boot volume or a server group. */
export function isBareMetal(flavorId: string): boolean {
  return flavorId.startsWith('bm');
}

/** Whether the ID is that of a flavor with a GPU, virtual or bare metal. */
export function isGpu(flavorId: string): boolean {
  return flavorId.includes('gpu');
}
