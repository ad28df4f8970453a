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
    ...query,
    within,
    services: wanted.flatMap(({ service, status }) => (isOffered(service) ? [{ service, status }] : [])),
    created_at_gte: momentOf(query, 'created_at_gte'),
    created_at_lte: momentOf(query, 'created_at_lte'),
  };
}

export function orderOf(ordering = 'id'): ClientOrder[] {
  return ordering.split(',').map((field) => {
    const name = field.replace('-', '');
    const column = (name === 'companyName' ? 'company' : name) as ClientColumn;
    return { column, direction: field.startsWith('-') ? 'desc' : 'asc' };
  });
}

function momentOf(query: ClientListQuery, field: 'created_at_gte' | 'created_at_lte'): Date | undefined {
  const text = query[field];
  if (text === undefined) return undefined;
  const date = new Date(text);
  // A leap second has the form of a time, but no Date can hold it.
  if (Number.isNaN(date.getTime())) throw new InvalidError({ [field]: [MOMENT_RULE] });
  return date;
}
