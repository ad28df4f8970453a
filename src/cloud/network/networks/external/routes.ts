import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { ExternalAddresses, ExternalAddressesQuery } from './schema.ts';
import { ADDRESSES_DUTY, listExternalAddresses } from './service.ts';

export function externalAddressRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Platform'], access: 'resell' });

  api.get(
    '/tradewind/v1/platform/external_addresses',
    'listExternalAddresses',
    'See how many public addresses are left',
    {
      platformDuty: ADDRESSES_DUTY,
      description:
        'Of each prefix of the external networks: how many addresses there are, in use, free and kept. The catalogue names the prefixes of each region, and "tradewind catalog apply" adds more. Only for the platform administrator.',
      query: ExternalAddressesQuery,
      answer: ExternalAddresses,
      handler: ({ principal, query }) => listExternalAddresses(on, principal, query),
    },
  );
}
