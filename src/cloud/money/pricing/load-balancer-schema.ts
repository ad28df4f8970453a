import { type Static, Type } from 'typebox';
import { UuidInput } from '../../../lib/resource-fields.ts';
import { Input, Named, nullable, oneOf, orNull } from '../../../lib/wire.ts';
import { InterfaceFloatingIp } from '../../compute/instances/schema.ts';
import { priceSchema } from './schema.ts';

const { Optional } = Type;

const flavor = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Flavor of the load balancer',
  examples: ['lb1-1-2'],
});
export const LoadBalancerFlavorPriceRequest = Input(
  'LoadBalancerFlavorPriceRequest',
  { flavor },
  { flavor: 'lb1-1-2' },
);

export const LoadBalancerPriceRequest = Input(
  'LoadBalancerPriceRequest',
  {
    flavor,
    vip_network_id: Optional(orNull(UuidInput('Network of the virtual address; the external one by default'))),
    vip_subnet_id: Optional(orNull(UuidInput('Subnet of vip_network_id'))),
    vip_port_id: Optional(orNull(UuidInput('Reserved fixed IP, which costs nothing more'))),
    vip_ip_family: Optional(
      orNull(oneOf(['dual', 'ipv4', 'ipv6'], { description: 'Address family', examples: ['ipv4'] })),
    ),
    floating_ip: Optional(InterfaceFloatingIp()),
  },
  { flavor: 'lb1-1-2', vip_ip_family: 'ipv4' },
);
export type LoadBalancerPriceRequest = Static<typeof LoadBalancerPriceRequest>;

const { currency_code, discount_percent, price_status, tax_percent } = priceSchema.properties;
const { price_per_hour, price_per_month, price_without_discount_per_month } = priceSchema.properties;

const part = (description: string) => nullable(Type.Number({ description }));
const Parts = Named('LoadBalancerPriceParts', {
  flavor: part('The load balancer itself'),
  external_ip: part('Its public address, if it has one'),
  floating_ip: part('Its new floating IP, if it gets one'),
});
export type PriceParts = Static<typeof Parts>;

export const LoadBalancerPrice = Named('LoadBalancerPrice', {
  currency_code,
  discount_percent,
  price_status,
  tax_percent,
  per_hour: Parts,
  per_month: Parts,
  total_price_per_hour: price_per_hour,
  total_price_per_month: price_per_month,
  price_without_discount_per_month,
});
export type LoadBalancerPrice = Static<typeof LoadBalancerPrice>;
