import { type Static, Type } from 'typebox';
import { Input, Named } from '../../../lib/wire.ts';
import { SERVICES } from '../../accounts/schema.ts';

const Product = Type.Enum([...SERVICES], { type: 'string', description: 'Product', examples: ['CLOUD'] });
const available = Type.Boolean({
  description: 'Whether accounts may be given the product',
  examples: [true],
});

export const ProductAvailability = Named('ProductAvailability', { product_name: Product, available });
export type ProductAvailability = Static<typeof ProductAvailability>;
export const ProductAvailabilityArray = Type.Array(ProductAvailability);

export const SetProductAvailability = Input(
  'SetProductAvailability',
  { product_name: Product, available },
  { product_name: 'CLOUD', available: true },
);

export const ResetProductAvailability = Input(
  'ResetProductAvailability',
  {
    product_names: Type.Array(Product, {
      minItems: 1,
      maxItems: SERVICES.length,
      description: 'Products for which the default counts again',
    }),
  },
  { product_names: ['CLOUD'] },
);
