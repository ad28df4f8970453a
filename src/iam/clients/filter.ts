import { InvalidError } from '../../lib/errors.ts';
import { MOMENT_RULE } from '../../lib/timestamps.ts';
import { type ClientListQuery, isOffered, SERVICES } from './schema.ts';
import type { ClientColumn, ClientFilter, ClientOrder } from './store.ts';

/** What a query asks the store for. Undefined when nothing can match. */
export function filterOf(query: ClientListQuery, within: number | undefined): ClientFilter | undefined {
  const wanted = SERVICES.flatMap((service) => {
    const status = query[service.toLowerCase() as Lowercase<typeof service>];
    return status === undefined ? [] : [{ service, status }];
  });
  const impossible =
    // A service that the platform doesn't offer is `new` in every account.
    wanted.some(({ service, status }) => !isOffered(service) && status !== 'new') ||
    query.promocode !== undefined ||
    query.client_type === 'sales' ||
    (query.bill_type !== undefined && query.bill_type !== 'common');
  if (impossible) return undefined;
  return {
    within,
    services: wanted.flatMap(({ service, status }) => (isOffered(service) ? [{ service, status }] : [])),
    email: query.email,
    company: query.companyName,
    name: query.name,
    deleted: { true: true, false: false }[query.deleted ?? ''],
    resellerId: query.reseller_id,
    sellerId: query.seller_id,
    customId: query.custom_id,
    activated: query.activated,
    excluded: idsOf(query.id__in__exclude),
    usersName: query.users_name,
    usersEmail: query.users_email,
    createdFrom: momentOf(query, 'created_at_gte'),
    createdTo: momentOf(query, 'created_at_lte'),
    featureIds: idsOf(query.feature_id_in),
    isTest: query.is_test,
    ofReseller: query.client_type && query.client_type === 'reseller',
    countryCode: query.country_code,
  };
}

export function orderOf(ordering = 'id'): ClientOrder[] {
  return ordering.split(',').map((field) => {
    const name = field.replace('-', '');
    const column = (name === 'companyName' ? 'company' : name) as ClientColumn;
    return { column, direction: field.startsWith('-') ? 'desc' : 'asc' };
  });
}

function idsOf(list: string | undefined): number[] | undefined {
  return list?.split(',').map(Number);
}

function momentOf(query: ClientListQuery, field: 'created_at_gte' | 'created_at_lte'): Date | undefined {
  const text = query[field];
  if (text === undefined) return undefined;
  const date = new Date(text);
  // A leap second has the form of a time, but no Date can hold it.
  if (Number.isNaN(date.getTime())) throw new InvalidError({ [field]: [MOMENT_RULE] });
  return date;
}
