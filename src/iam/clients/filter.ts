import { momentIn } from '../../lib/calendar-time.ts';
import { orderingOf } from '../../lib/ordered-list.ts';
import { isOffered, SERVICES } from '../accounts/schema.ts';
import type { ClientListQuery } from './schema.ts';
import type { ClientColumn, ClientFilter, ClientOrder } from './store.ts';

/** Turns a query into the store's filter. Undefined if nothing can match. */
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
  const { created_at_gte: gte, created_at_lte: lte } = query;
  return {
    ...query,
    within,
    services: wanted.flatMap(({ service, status }) => (isOffered(service) ? [{ service, status }] : [])),
    created_at_gte: gte === undefined ? undefined : momentIn('created_at_gte', gte),
    created_at_lte: lte === undefined ? undefined : momentIn('created_at_lte', lte),
  };
}

export function orderOf(ordering: string | undefined): ClientOrder[] {
  return orderingOf(ordering).map(({ field, direction }) => ({
    column: (field === 'companyName' ? 'company' : field) as ClientColumn,
    direction,
  }));
}
