import type { Database } from '../../../../db/database.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { isoSeconds } from '../../../../lib/timestamps.ts';
import type { Principal } from '../../../../requests/principal.ts';
import type { Catalog } from '../../catalog/service.ts';
import type { DatedListQuery } from '../../dated-lists/schema.ts';
import { createDatedLists } from '../../dated-lists/service.ts';
import { refuseOthers } from '../reach.ts';
import { limitProblems, limitsByKey, limitsOf } from './rules.ts';
import type { NewQuotaList, QuotaList, QuotaLists } from './schema.ts';
import * as store from './store.ts';

/**
 * What accounts may have, apart from the catalogue. The platform administrator makes the lists, since a reseller could give its
 * clients more than the platform has; administrators of resellers read those for their clients.
 */
export interface QuotaListService {
  list(principal: Principal, query: DatedListQuery): Promise<QuotaLists>;
  /** @throws NotFoundError */
  get(principal: Principal, id: number): Promise<QuotaList>;
  /** Takes effect at once. What is there already stays. @throws InvalidError, ForbiddenError, ConflictError for too many */
  create(principal: Principal, list: NewQuotaList): Promise<QuotaList>;
  /** @throws NotFoundError, ForbiddenError, ConflictError if it has come into force */
  delete(principal: Principal, id: number): Promise<void>;
}

export function createQuotaLists(deps: {
  database: Database;
  catalog: Pick<Catalog, 'regions'>;
  clock: Clock;
}): QuotaListService {
  const { catalog } = deps;
  const lists = createDatedLists<store.QuotaListRow>({ ...deps, table: 'quota_lists', name: 'Quota list' });
  return {
    async list(principal, query) {
      const { rows, next_page_token } = await lists.page(principal, query);
      return { results: rows.map(presented), next_page_token };
    },

    async get(principal, id) {
      return presented(await lists.find(principal, id));
    },

    async create(principal, given) {
      refuseOthers(principal);
      const limits = limitsByKey(given.limits);
      return presented(
        await lists.create(principal, given, limitProblems(given, catalog), (tx, made) =>
          store.insertQuotaList(tx, { ...made, limits }),
        ),
      );
    },

    async delete(principal, id) {
      await lists.find(principal, id);
      refuseOthers(principal);
      await lists.delete(principal, id, (tx) => store.deleteQuotaList(tx, id));
    },
  };
}

function presented({ valid_from, created_at, limits, ...row }: store.QuotaListRow): QuotaList {
  return {
    ...row,
    valid_from: isoSeconds(valid_from),
    limits: limitsOf(limits),
    created_at: isoSeconds(created_at),
  };
}
