import { type Static, Type } from 'typebox';
import { VOLUME_TYPES } from '../../../lib/volume-types.ts';
import { Choice, Input, Named, nullable, OptionalTextOrNull, orNull, TextOrNull } from '../../../lib/wire.ts';
import { MAX_INTERFACES, MAX_VOLUMES, NewInterfaceSchema } from '../../compute/instances/schema.ts';
import { priceSchema, volumePriceRequestSchema } from './schema.ts';

const { Array: List, Integer, Number: Num, Optional, String: Text } = Type;

/** Our own limit. None is published. */
const MAX_INSTANCES = 100;
const { size, snapshot_id, type_name } = volumePriceRequestSchema.properties;

const PricedVolume = Input('InstancePriceVolume', {
  source: Choice(['existing-volume', 'image', 'new-volume', 'snapshot'], {
    description: 'Source of the volume. What exists already costs nothing more.',
    examples: ['image'],
  }),
  size,
  snapshot_id,
  type_name,
  image_id: OptionalTextOrNull({ maxLength: 255, description: 'Ignored: the price is the same' }),
  volume_id: OptionalTextOrNull({ maxLength: 255, description: 'Ignored: the price is the same' }),
});
export type PricedVolumeRequest = Static<typeof PricedVolume>;

const named = (what: string) => ({
  minItems: 1,
  maxItems: MAX_INSTANCES,
  description: `${what} of the instances: one instance for each. Without names, it is one instance.`,
});
export const InstancePriceRequest = Input(
  'InstancePriceRequest',
  {
    flavor: Text({ minLength: 1, maxLength: 255, description: 'Flavor ID', examples: ['g1-standard-1-2'] }),
    interfaces: List(NewInterfaceSchema, { maxItems: MAX_INTERFACES }),
    volumes: Optional(List(PricedVolume, { maxItems: MAX_VOLUMES })),
    names: Optional(List(Text({ maxLength: 255 }), named('Names'))),
    name_templates: Optional(List(TextOrNull({ maxLength: 255 }), named('Templates for the names'))),
  },
  {
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'external' }],
    volumes: [{ source: 'image', size: 20, type_name: 'ssd_hiiops' }],
    names: ['web-1'],
  },
);
export type InstancePriceRequest = Static<typeof InstancePriceRequest>;

const part = (description: string) => nullable(Num({ description }));
const ofTraffic = (who: string) => Optional(part(`What ${who} sends out of the region, for 1,000,000,000 bytes`));
const ofVolumes = (type: string) => Optional(part(`Volumes of type ${type}`));
const VolumeParts = Type.Object(
  Object.fromEntries(VOLUME_TYPES.map((type) => [type, ofVolumes(type)])) as Record<
    (typeof VOLUME_TYPES)[number],
    ReturnType<typeof ofVolumes>
  >,
  { title: 'InstanceVolumePrices', description: 'By type' },
);
const PricesPerGb = Named('InstancePricesPerGb', {
  egress_traffic_baremetal: ofTraffic('a bare metal server'),
  egress_traffic_virtual: ofTraffic('an instance'),
});
const Parts = Named('InstancePriceParts', {
  flavor: part('The machines'),
  external_ip: part('Their public addresses, if they have any'),
  floating_ip: part('Their new floating IPs, if they get any'),
  volumes: orNull(VolumeParts),
});
export type InstancePriceParts = Static<typeof Parts>;

const { currency_code, price_status, tax_percent } = priceSchema.properties;
const { price_per_hour, price_per_month, price_without_discount_per_month } = priceSchema.properties;

export const InstancePrice = Named('InstancePrice', {
  currency_code,
  discount_percent: Text({
    description: 'Applied discount as a fraction: 0.16 is 16 %; 0 unless price_status is `show`',
    examples: ['0.16'],
  }),
  discount_details: List(
    Named('InstancePriceDiscount', {
      resource: Text({ description: 'Part of the price', examples: ['ssd_hiiops'] }),
      discount: Text({ description: 'Fraction', examples: ['0.16'] }),
    }),
    { description: 'The discount of each part that costs something' },
  ),
  per_gb: orNull(PricesPerGb),
  per_hour: Parts,
  per_month: Parts,
  price_status,
  price_without_discount_per_month,
  tax_percent,
  total_price_per_hour: price_per_hour,
  total_price_per_month: price_per_month,
  vm_count: Integer({ minimum: 1, description: 'Number of instances. All prices are for all of them.' }),
});
export type InstancePrice = Static<typeof InstancePrice>;
