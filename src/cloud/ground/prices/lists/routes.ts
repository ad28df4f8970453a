import { Type } from 'typebox';
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
  app.get(BASE, {
    config: { access },
    schema: {
      operationId: 'listPriceLists',
      summary: 'List price lists',
      description: `All that have been in force, are, or will be: the latest first. ${WHO}`,
      tags,
      querystring: DatedListQuery,
      response: { 200: PriceLists },
    },
    handler: ({ principal, query }) => listPriceLists(on, principal, query),
  });

  app.post(BASE, {
    config: { access },
    schema: {
      operationId: 'createPriceList',
      summary: 'Set what accounts pay',
      description:
        'From its time on, the list replaces the one before for the same accounts. What it leaves out is as in the list for the reseller, then as in that for everyone, then as in the catalogue. The platform administrator makes lists for anybody, the administrator of a reseller for its clients.',
      tags,
      body: NewPriceList,
      response: { 201: PriceList },
    },
    handler: async ({ principal, body }, reply) =>
      reply.code(201).send(await createPriceList(on, principal, body)),
  });

  app.get(ONE, {
    config: { access },
    schema: {
      operationId: 'getPriceList',
      summary: 'Get a price list',
      tags,
      params: PriceListParams,
      response: { 200: PriceList },
    },
    handler: ({ principal, params }) => getPriceList(on, principal, params.price_list_id),
  });

  app.delete(ONE, {
    config: { access },
    schema: {
      operationId: 'deletePriceList',
      summary: 'Delete a price list that is not in force yet',
      description: 'What has come into force stays: let another list follow it.',
      tags,
      params: PriceListParams,
      response: { 204: Type.Null() },
    },
    handler: async ({ principal, params }, reply) => {
      await deletePriceList(on, principal, params.price_list_id);
      return reply.code(204).send(null);
    },
  });

  app.get('/tradewind/v1/prices', {
    config: { access: 'read', refuses: [404] },
    schema: {
      operationId: 'getPrices',
      summary: 'What an account pays',
      description:
        'By the price lists and the catalogue, now or at another time. Your own account; of a reseller its clients as well, for its administrators.',
      tags,
      querystring: PricesQuery,
      response: { 200: Prices },
    },
    handler: ({ principal, query }) => listPrices(on, principal, query),
  });
}
