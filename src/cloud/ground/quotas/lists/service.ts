import { type Selectable, sql } from 'kysely';
import type { Transaction } from '../../../../db/database.ts';
import type { ListedLimits } from '../../../../db/json-columns.ts';
import type { Tables } from '../../../../db/tables.ts';
import type { FieldProblem } from '../../../../lib/errors.ts';
import { isoSeconds } from '../../../../lib/time.ts';
import type { Platform } from '../../../../platform.ts';
import type { Principal } from '../../../../requests/principal.ts';
import type { Catalog } from '../../catalog/service.ts';
import type { DatedListQuery } from '../../dated-lists/schema.ts';
import { createDatedList, deleteDatedList, getDatedList, listDatedLists } from '../../dated-lists/service.ts';
import { GLOBAL_NAMES } from '../names.ts';
import { refuseOthers } from '../service.ts';
import type { NewQuotaList, QuotaList, QuotaLists } from './schema.ts';

/** Returns what is wrong with the limits of a new list. */
export function limitProblems({ limits }: NewQuotaList, { regions }: Pick<Catalog, 'regions'>): FieldProblem[] {
  const seen = new Set<string>();
  return limits.flatMap(({ quota, region_id }, index): FieldProblem[] => {
    const problem = (field: string, message: string) => ({ field: `limits.${index}.${field}`, message });
    const key = `${region_id} ${quota}`;
    if (seen.has(key)) return [problem('quota', 'Has a limit already.')];
    seen.add(key);
    if (region_id === undefined) return [];
    if (GLOBAL_NAMES.some((name) => name === quota)) return [problem('region_id', `${quota} has no region.`)];
    return regions.has(region_id) ? [] : [problem('region_id', `Region ${region_id} not found.`)];
  });
}

/** Returns the limits as the database looks them up. */
export function limitsByKey(limits: NewQuotaList['limits']): ListedLimits {
  return Object.fromEntries(
    limits.map(({ quota, region_id, limit }) => [region_id ? `${region_id} ${quota}` : quota, limit]),
  );
}

export function limitsOf(listed: ListedLimits): NewQuotaList['limits'] {
  return Object.entries(listed).map(([key, limit]) => {
    const [quota = '', region] = key.split(' ').reverse();
    const named = quota as NewQuotaList['limits'][number]['quota'];
    return { quota: named, ...(region && { region_id: Number(region) }), limit };
  });
}

/*
 * What accounts may have, apart from the catalogue. The platform administrator makes the lists, since a reseller could give
 * its clients more than the platform has; administrators of resellers read those for their clients.
 */

type QuotaListRow = Selectable<Tables['quota_lists']>;

const KIND = { table: 'quota_lists', rows: sql`quota_lists`, name: 'Quota list' } as const;

export async function listQuotaLists(on: Platform, principal: Principal, query: DatedListQuery): Promise<QuotaLists> {
  const { rows, next_page_token } = await listDatedLists<QuotaListRow>(on, KIND, principal, query);
  return { results: rows.map(presented), next_page_token };
}

/** @throws NotFoundError */
export async function getQuotaList(on: Platform, principal: Principal, id: number): Promise<QuotaList> {
  return presented(await getDatedList<QuotaListRow>(on, KIND, principal, id));
}

/** Takes effect at once. What is there already stays. @throws InvalidError, ForbiddenError, ConflictError for too many */
export async function createQuotaList(on: Platform, principal: Principal, given: NewQuotaList): Promise<QuotaList> {
  refuseOthers(principal);
  const limits = limitsByKey(given.limits);
  return presented(
    await createDatedList(on, KIND, principal, {
      list: given,
      problems: limitProblems(given, on.catalog),
      insert: (tx, made) => insertList(tx, { ...made, limits }),
    }),
  );
}

/** @throws NotFoundError, ForbiddenError, ConflictError if it has come into force */
export async function deleteQuotaList(on: Platform, principal: Principal, id: number): Promise<void> {
  await getDatedList(on, KIND, principal, id);
  refuseOthers(principal);
  await deleteDatedList(on, KIND, principal, { id, remove: (tx) => deleteList(tx, id) });
}

function presented({ valid_from, created_at, limits, ...row }: QuotaListRow): QuotaList {
  return {
    ...row,
    valid_from: isoSeconds(valid_from),
    limits: limitsOf(limits),
    created_at: isoSeconds(created_at),
  };
}

async function insertList(tx: Transaction, list: Omit<QuotaListRow, 'id'>): Promise<QuotaListRow> {
  return tx.sql
    .insertInto('quota_lists')
    .values({ ...list, limits: JSON.stringify(list.limits) })
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function deleteList(tx: Transaction, id: number): Promise<void> {
  await tx.sql.deleteFrom('quota_lists').where('id', '=', id).execute();
}
