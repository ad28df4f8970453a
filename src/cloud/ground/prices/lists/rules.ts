import type { FieldProblem } from '../../../../lib/errors.ts';
import { VOLUME_TYPES } from '../../../../lib/volume-types.ts';
import { type Catalog, priced } from '../../catalog/service.ts';
import { isOffered } from '../offered.ts';
import type { NewPriceList } from './schema.ts';
import type { ListedPrice } from './tables.ts';

/** What has a price in every catalogue. */
const ITEMS: ReadonlySet<string> = new Set([
  ...VOLUME_TYPES.map(priced.volume),
  ...['standard', 'vast'].map(priced.fileShare),
  ...(['linux', 'windows'] as const).map(priced.image),
  priced.publicAddress,
  priced.imageStorage,
  priced.logStorage,
  priced.ddosProtection,
]);

/** Returns what is wrong with the prices of a new list. */
export function priceProblems(
  { prices = [], currency }: NewPriceList,
  catalog: Pick<Catalog, 'regions' | 'flavor'>,
): FieldProblem[] {
  const seen = new Set<string>();
  return prices.flatMap((price, index): FieldProblem[] => {
    const problem = (field: string, message: string) => ({ field: `prices.${index}.${field}`, message });
    const problems = [];
    if ((price.per_hour === undefined) === (price.per_month === undefined)) {
      problems.push(problem('per_hour', 'Send either per_hour or per_month.'));
    }
    if (!price.currency && !currency) {
      problems.push(problem('currency', 'Is required in a list without a currency.'));
    }
    if (price.region_id !== undefined && !catalog.regions.has(price.region_id)) {
      problems.push(problem('region_id', `Region ${price.region_id} not found.`));
    }
    if (!isKnown(price, catalog)) {
      problems.push(
        problem(
          'item',
          `${price.item} is not offered ${price.region_id === undefined ? 'anywhere' : 'there'}.`,
        ),
      );
    }
    const key = `${price.region_id} ${price.currency ?? currency} ${price.item}`;
    if (seen.has(key))
      problems.push(problem('item', 'Has a price already, in the same region and currency.'));
    seen.add(key);
    return problems;
  });
}

function isKnown({ item, region_id }: ListedPrice, catalog: Pick<Catalog, 'regions' | 'flavor'>): boolean {
  if (!ITEMS.has(item) && !item.startsWith(priced.flavor(''))) return false;
  const where = region_id === undefined ? [...catalog.regions.keys()] : [region_id];
  return where.some((region) => isOffered(catalog, region, item));
}
