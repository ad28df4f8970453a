import { type Static, Type } from 'typebox';
import { MAX_VOLUME_GIB } from '../../../lib/volume-types.ts';
import { Input, Named, nullable, oneOf } from '../../../lib/wire.ts';
import { MAX_SHARE_GIB } from '../../storage/file-shares/schema.ts';

const { Integer, Literal, Optional } = Type;

/** Our own limit. None is published. */
const MAX_ADDRESSES = 1_000;

export const FileSharePriceRequest = Input(
  'FileSharePriceRequest',
  {
    source: Literal('new-file-share', { description: 'Always `new-file-share`' }),
    size: Integer({ minimum: 1, maximum: MAX_SHARE_GIB, description: 'Size in GiB', examples: [20] }),
    type_name: Optional(
      oneOf(['standard', 'vast'], {
        default: 'standard',
        description: 'Type of the share',
        examples: ['vast'],
      }),
    ),
  },
  { source: 'new-file-share', size: 20, type_name: 'vast' },
);
export type FileSharePriceRequest = Static<typeof FileSharePriceRequest>;

export const FloatingIpPriceRequest = Input(
  'FloatingIpPriceRequest',
  {
    count: Integer({
      minimum: 1,
      maximum: MAX_ADDRESSES,
      description: 'Number of floating IPs',
      examples: [2],
    }),
  },
  { count: 2 },
);
export type FloatingIpPriceRequest = Static<typeof FloatingIpPriceRequest>;

export const ImagePriceRequest = Input(
  'ImagePriceRequest',
  { size: Integer({ minimum: 1, maximum: MAX_VOLUME_GIB, description: 'Size in GiB', examples: [10] }) },
  { size: 10 },
);
export type ImagePriceRequest = Static<typeof ImagePriceRequest>;

const days = (description: string) => Integer({ minimum: 0, maximum: 31, description });
const price = (per: string) =>
  nullable(Type.Number({ description: `Price ${per}, after discount and with tax` }));

export const DdosPrice = Named('DdosPrice', {
  current_month_days: days('Days in the current month'),
  current_month_days_last: days('Days left in the current month, today included'),
  next_month_days: days('Days in the next month'),
  price: Named('DdosPriceDetails', {
    feature_name: Type.String({ description: 'What is sold', examples: ['DDoS protection'] }),
    period: Type.String({ description: 'What the price is agreed for', examples: ['hour'] }),
    price_currency: oneOf(['AZN', 'EUR', 'USD'], { description: 'ISO 4217 code', examples: ['EUR'] }),
    price_per_30d: price('of 30 days'),
    price_per_day: price('of a day'),
    price_per_hour: price('of an hour'),
    unit_name: Type.String({ description: 'Unit that has the price', examples: ['profile'] }),
    unit_size: Integer({ description: 'Number of units', examples: [1] }),
  }),
});
export type DdosPrice = Static<typeof DdosPrice>;
