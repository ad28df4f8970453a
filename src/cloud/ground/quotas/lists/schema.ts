import { type Static, Type } from 'typebox';
import { Choice, Input, IntegerId, Named } from '../../../../lib/wire.ts';
import { listFields, makingFields, newListFields, nextPage } from '../../dated-lists/schema.ts';
import { GLOBAL_NAMES, REGIONAL_QUOTAS } from '../names.ts';

const limit = {
  quota: Choice([...REGIONAL_QUOTAS, ...GLOBAL_NAMES], {
    description: 'Name of the quota, as refusals have it',
    examples: ['vm_count'],
  }),
  region_id: Type.Optional(IntegerId('Region; all of them if left out. What is said of the region goes before it')),
  limit: Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000,
    description: 'How many there may be',
    examples: [200],
  }),
};

export const NewQuotaList = Input(
  'NewQuotaList',
  { ...newListFields, limits: Type.Array(Input('QuotaListItem', limit), { maxItems: 500 }) },
  { scope: 'client', id: 1, limits: [{ quota: 'vm_count', limit: 200 }] },
);
export type NewQuotaList = Static<typeof NewQuotaList>;

export const QuotaList = Named('QuotaList', {
  ...listFields,
  limits: Type.Array(Named('ListedQuota', limit)),
  ...makingFields,
});
export type QuotaList = Static<typeof QuotaList>;
export const QuotaLists = Named('QuotaLists', {
  results: Type.Array(QuotaList, { description: 'The latest first' }),
  ...nextPage,
});
export type QuotaLists = Static<typeof QuotaLists>;
export const QuotaListParams = Type.Object({ quota_list_id: IntegerId('Quota list ID') });
