import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { DatedListQuery } from '../../dated-lists/schema.ts';
import { NewPriceList, PriceList, PriceListParams, PriceLists, Prices, PricesQuery } from './schema.ts';
import { createPriceList, deletePriceList, getPriceList, listPriceLists, listPrices } from './service.ts';

const BASE = '/tradewind/v1/price_lists';
const ONE = `${BASE}/:price_list_id`;
const tags = ['Pricing'];
const access = 'resell';
const WHO =
  'The platform administrator has all lists; the administrator of a reseller those of the reseller and its clients.';

export function priceListRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags });

  api.get(BASE, 'listPriceLists', 'List price lists', {
    access,
    description: `All that have been in force, are, or will be: the latest first. ${WHO}`,
    query: DatedListQuery,
    answer: PriceLists,
    handler: ({ principal, query }) => listPriceLists(on, principal, query),
  });

  api.post(BASE, 'createPriceList', 'Set what accounts pay', {
    access,
    description:
      'From its time on, the list replaces the one before for the same accounts. What it leaves out is as in the list for the reseller, then as in that for everyone, then as in the catalogue. The platform administrator makes lists for anybody, the administrator of a reseller for its clients.',
    body: NewPriceList,
    status: 201,
    answer: PriceList,
    handler: async ({ principal, body }) => await createPriceList(on, principal, body),
  });

  api.get(ONE, 'getPriceList', 'Get a price list', {
    access,
    params: PriceListParams,
    answer: PriceList,
    handler: ({ principal, params }) => getPriceList(on, principal, params.price_list_id),
  });

  api.delete(ONE, 'deletePriceList', 'Delete a price list that is not in force yet', {
    access,
    description: 'What has come into force stays: let another list follow it.',
    params: PriceListParams,
    handler: ({ principal, params }) => deletePriceList(on, principal, params.price_list_id),
  });

  api.get('/tradewind/v1/prices', 'getPrices', 'What an account pays', {
    refuses: [404],
    description:
      'By the price lists and the catalogue, now or at another time. Your own account; of a reseller its clients as well, for its administrators.',
    query: PricesQuery,
    answer: Prices,
    handler: ({ principal, query }) => listPrices(on, principal, query),
  });
}
