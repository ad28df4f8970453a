import type { ApiCommand } from '../api/api-command.ts';

/** An account by position, so that nobody decides about the account of the token by leaving it out. */
const ONE = ['clientId'];
const COLUMNS = { PRODUCT: 'product_name', AVAILABLE: 'available' };

export const products: readonly ApiCommand[] = [
  { name: 'product list', operation: 'listClientProducts', arguments: ONE, columns: COLUMNS },
  {
    name: 'product set',
    operation: 'setClientProduct',
    arguments: ONE,
    help: 'From then on the default counts no more for the client: "tradewind product reset" lets it count again.',
  },
  { name: 'product reset', operation: 'resetClientProducts', arguments: ONE },
  { name: 'product reset-all', operation: 'resetAllProducts' },
  { name: 'product default list', operation: 'listDefaultProducts', columns: COLUMNS },
  {
    name: 'product default set',
    operation: 'setDefaultProduct',
    help: 'For clients of your reseller for whom nothing else was set.',
  },
];
