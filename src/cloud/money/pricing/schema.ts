import { type Static, Type } from 'typebox';
import { type FieldProblem, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { UuidInput } from '../../../lib/resource-fields.ts';
import { MAX_VOLUME_GIB, VOLUME_TYPES, type VolumeType } from '../../../lib/volume-types.ts';
import { Choice, Input, Named, nullable, OptionalIntegerOrNull, OptionalTextOrNull, oneOf } from '../../../lib/wire.ts';
import { MAX_SHARE_GIB } from '../../storage/file-shares/schema.ts';

export const volumePriceRequestSchema = Type.Object(
  {
    source: Choice(['image', 'new-volume', 'snapshot'], {
      description: 'Source of the volume.',
      examples: ['new-volume'],
    }),
    size: OptionalIntegerOrNull({
      minimum: 1,
      maximum: MAX_VOLUME_GIB,
      description:
        'Size in GiB. Required for `image` and `new-volume`. Optional for `snapshot`, where it must equal the size of the snapshot.',
      examples: [100],
    }),
    snapshot_id: OptionalTextOrNull({
      minLength: 1,
      maxLength: 255,
      description: 'Required for `snapshot`, not allowed for other sources.',
      examples: ['726ecfcc-7fd0-4e30-a86e-7892524aa483'],
    }),
    type_name: Type.Optional(
      nullable(
        Choice(VOLUME_TYPES, {
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
      Choice(['AZN', 'EUR', 'USD'], { description: 'Currency of the account (ISO 4217 code).', examples: ['EUR'] }),
    ),
    discount_percent: amount('Applied discount as a fraction: 0.16 is 16 %.', 0.16),
    price_per_hour: amount('Price per hour after discount, including tax; rounded to 10 decimals.', 0.01346436),
    price_per_month: amount('Price of a month of 720 hours after discount: 720 times price_per_hour.', 9.6943392),
    price_without_discount_per_month: amount('Price of a month of 720 hours before discount, including tax.', 11.54088),
    price_status: Choice(['error', 'hide', 'show'], {
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
    count: Integer({ minimum: 1, maximum: MAX_ADDRESSES, description: 'Number of floating IPs', examples: [2] }),
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
const price = (per: string) => nullable(Type.Number({ description: `Price ${per}, after discount and with tax` }));

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

/** A volume, or a snapshot with the type of its volume. */
export interface PricedVolume {
  sizeGib: number;
  volumeType: VolumeType;
}

const DEFAULT_TYPE: VolumeType = 'standard';

/**
 * Refuses wrong combinations of `source`, `size` and `snapshot_id`, before a snapshot is looked up. An absent field
 * and null mean the same here.
 */
export function volumeRequestProblems(request: VolumePriceRequest): FieldProblem[] {
  const { source } = request;
  const snapshotId = request.snapshot_id ?? null;
  if (source === 'snapshot') {
    if (snapshotId !== null) return [];
    return [{ field: 'snapshot_id', message: 'Is required when source is snapshot.' }];
  }
  const problems: FieldProblem[] = [];
  if ((request.size ?? null) === null) {
    problems.push({ field: 'size', message: `Is required when source is ${source}; send the size in GiB.` });
  }
  if (snapshotId !== null) {
    const message = `Is not allowed when source is ${source}; leave it out, or set source to snapshot.`;
    problems.push({ field: 'snapshot_id', message });
  }
  return problems;
}

/**
 * Returns size and type to price. `snapshot` is the one that `snapshot_id` names, undefined if it doesn't exist. As in
 * the creation of a volume, `type_name` comes before the type of the snapshot. Throws InvalidError for a wrong
 * combination or a size that differs from the snapshot's, NotFoundError for an unknown snapshot.
 */
export function pricedVolume(request: VolumePriceRequest, snapshot?: PricedVolume): PricedVolume {
  const problems = volumeRequestProblems(request);
  if (problems.length > 0) throw new InvalidError(problems);
  const size = request.size ?? undefined;
  if (request.source !== 'snapshot') {
    if (size === undefined) throw new TypeError('a size was checked to be there');
    return { sizeGib: size, volumeType: request.type_name ?? DEFAULT_TYPE };
  }
  if (!snapshot) throw new NotFoundError('Snapshot', request.snapshot_id ?? '');
  if (size !== undefined && size !== snapshot.sizeGib) {
    const message = `Must equal the snapshot's size of ${snapshot.sizeGib} GiB, but is ${size}; leave it out to use the snapshot's size.`;
    throw new InvalidError([{ field: 'size', message }]);
  }
  return { sizeGib: snapshot.sizeGib, volumeType: request.type_name ?? snapshot.volumeType };
}
