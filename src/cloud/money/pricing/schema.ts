import { type Static, Type } from 'typebox';
import { UuidInput } from '../../../lib/resource-fields.ts';
import { MAX_VOLUME_GIB, VOLUME_TYPES } from '../../../lib/volume-types.ts';
import { Input, nullable } from '../../../lib/wire.ts';

export const volumePriceRequestSchema = Type.Object(
  {
    source: Type.Enum(['image', 'new-volume', 'snapshot'], {
      type: 'string',
      description: 'Source of the volume.',
      examples: ['new-volume'],
    }),
    size: Type.Optional(
      nullable(
        Type.Integer({
          minimum: 1,
          maximum: MAX_VOLUME_GIB,
          description:
            'Size in GiB. Required for `image` and `new-volume`. Optional for `snapshot`, where it must equal the size of the snapshot.',
          examples: [100],
        }),
      ),
    ),
    snapshot_id: Type.Optional(
      nullable(
        Type.String({
          minLength: 1,
          maxLength: 255,
          description: 'Required for `snapshot`, not allowed for other sources.',
          examples: ['726ecfcc-7fd0-4e30-a86e-7892524aa483'],
        }),
      ),
    ),
    type_name: Type.Optional(
      nullable(
        Type.Enum(VOLUME_TYPES, {
          type: 'string',
          description:
            "Volume type. Defaults to `standard`, or for `snapshot` to the type of the snapshot's source volume.",
          examples: ['standard'],
        }),
      ),
    ),
  },
  {
    title: 'VolumePriceRequest',
    description: 'The volume to price. Nothing is created.',
    additionalProperties: false,
    examples: [{ source: 'new-volume', size: 100, type_name: 'standard' }],
  },
);

export type VolumePriceRequest = Static<typeof volumePriceRequestSchema>;

export const snapshotPriceRequestSchema = Input(
  'SnapshotPriceRequest',
  { volume_id: UuidInput('Source volume of the snapshot') },
  { volume_id: '726ecfcc-7fd0-4e30-a86e-7892524aa483' },
);
export type SnapshotPriceRequest = Static<typeof snapshotPriceRequestSchema>;

function amount(description: string, example: number) {
  return nullable(
    Type.Number({ description: `${description} Null unless price_status is \`show\`.`, examples: [example] }),
  );
}

export const priceSchema = Type.Object(
  {
    currency_code: nullable(
      Type.Enum(['AZN', 'EUR', 'USD'], {
        type: 'string',
        description: 'Currency of the account (ISO 4217 code).',
        examples: ['EUR'],
      }),
    ),
    discount_percent: amount('Applied discount as a fraction: 0.16 is 16 %.', 0.16),
    price_per_hour: amount(
      'Price per hour after discount, including tax; rounded to 10 decimals.',
      0.01346436,
    ),
    price_per_month: amount(
      'Price of a month of 720 hours after discount: 720 times price_per_hour.',
      9.6943392,
    ),
    price_without_discount_per_month: amount(
      'Price of a month of 720 hours before discount, including tax.',
      11.54088,
    ),
    price_status: Type.Enum(['error', 'hide', 'show'], {
      type: 'string',
      description:
        '`show`: the prices are included. `hide`: prices are hidden from the account. `error`: the region has no price for this volume type.',
      examples: ['show'],
    }),
    tax_percent: Type.Number({ description: 'Tax rate in percent: 17 is 17 %.', examples: [17] }),
  },
  {
    title: 'VolumePrice',
    description: 'Price of a volume for this account.',
  },
);
/** The same schema as an answer of its own: the example belongs to the answer only. */
export const volumePriceSchema = {
  ...priceSchema,
  examples: [
    {
      currency_code: 'EUR',
      discount_percent: 0.16,
      price_per_hour: 0.01346436,
      price_per_month: 9.6943392,
      price_without_discount_per_month: 11.54088,
      price_status: 'show',
      tax_percent: 17,
    },
  ],
};
