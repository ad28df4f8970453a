import type { RawBuilder } from 'kysely';
import type { Sql, Transaction } from '../../../db/database.ts';
import { findClient, keepReseller, lockClients, resells } from '../../../iam/accounts/service.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { found } from '../../../lib/ids.ts';
import { isTimeAndId, pageToken, placeOf } from '../../../lib/page.ts';
import { noteAccount } from '../../../lib/request-context.ts';
import { calendarTime, secondOf } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import { type Principal, requirePlatform } from '../../../requests/principal.ts';
import * as store from './in-transaction.ts';
import type { DatedListQuery, NewList } from './schema.ts';

const MOST_AHEAD_MS = 10 * 366 * 86_400_000;

/** Returns what is wrong with whom a list is for, and since when. */
export function listProblems(list: NewList, from: Date, now: Date): FieldProblem[] {
  return [...holderProblems(list), ...timeProblems(from, now)];
}

function holderProblems({ scope, id }: NewList): FieldProblem[] {
  if (scope === 'everyone' && id !== undefined) {
    return [{ field: 'id', message: 'Must be left out of what is for everyone.' }];
  }
  if (scope !== 'everyone' && id === undefined) {
    return [{ field: 'id', message: `Is required: the ${scope} that it is for.` }];
  }
  return [];
}

function timeProblems(from: Date, now: Date): FieldProblem[] {
  const field = 'valid_from';
  if (from.getTime() < secondOf(now).getTime()) {
    return [{ field, message: 'Must not be in the past: what is over does not change.' }];
  }
  if (from.getTime() - now.getTime() > MOST_AHEAD_MS) return [{ field, message: 'Must be within ten years.' }];
  return [];
}

/** Each price list divides a report of costs. So no report has more parts than this for each scope. */
const MOST_IN_A_MONTH = 100;
const MONTH_MS = 31 * 86_400_000;

/** What every new row has. */
export type NewRow = Omit<store.ListRow, 'id'>;

/** Lists of one kind, which never change. */
export interface ListKind {
  table: store.ListTable;
  /** What SQL reads them from. */
  rows: RawBuilder<unknown>;
  /** What one is called, with a capital letter. */
  name: string;
}

/*
 * The platform administrator makes lists for everyone, resellers and accounts, a reseller's administrator for its clients. Lists of
 * others are not found.
 */

export async function listDatedLists<Row extends store.ListRow>(
  on: Platform,
  { rows: from }: ListKind,
  principal: Principal,
  { scope, id, limit = 100, page_token }: DatedListQuery,
): Promise<{ rows: Row[]; next_page_token: string | null }> {
  if (id !== undefined && (scope === undefined || scope === 'everyone')) {
    throw new InvalidError({ id: ['Needs the scope reseller or client.'] });
  }
  const holder = {
    ...(scope && { scope }),
    ...(id !== undefined && (scope === 'client' ? { client_id: id } : { reseller_id: id })),
  };
  const place = placeOf(page_token, isTimeAndId);
  const rows = await store.readLists<Row>(on.database.sql, from, sightOf(principal), holder, {
    after: place && { from: new Date(place[0]), id: place[1] },
    limit: limit + 1,
  });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: shown, next_page_token: last ? pageToken([last.valid_from.getTime(), last.id]) : null };
}

/** @throws NotFoundError */
export const getDatedList = <Row extends store.ListRow>(
  on: Platform,
  kind: ListKind,
  principal: Principal,
  id: number,
): Promise<Row> => findList(on.database.sql, kind, principal, id);

/**
 * Makes a list by `insert`, unless it has `problems`. @throws InvalidError, also for what the caller doesn't manage,
 * ForbiddenError, ConflictError for too many
 */
export async function createDatedList<Row extends store.ListRow>(
  on: Platform,
  { table, rows }: ListKind,
  principal: Principal,
  {
    list,
    problems,
    insert,
  }: {
    list: NewList;
    problems: readonly FieldProblem[];
    insert: (tx: Transaction, row: NewRow) => Promise<Row>;
  },
): Promise<Row> {
  const now = on.clock.now();
  const from = secondOf(calendarTime('valid_from', list.valid_from) ?? now);
  const all = [...listProblems(list, from, now), ...problems];
  if (all.length > 0) throw new InvalidError(all);
  if (list.scope !== 'client') requirePlatform(principal, SEVERAL);
  return on.database.accept(async (tx) => {
    const holder = await lockedHolder(tx, table, principal, list);
    const recently = new Date(now.getTime() - MONTH_MS);
    if ((await store.countAfter(tx, rows, holder, recently)) >= MOST_IN_A_MONTH) {
      throw new ConflictError(
        `${MOST_IN_A_MONTH} lists for the same began in the last 31 days or are still to begin, which is the most`,
      );
    }
    const made = { valid_from: from, created_by: principal.userId, created_at: now };
    const row = await insert(tx, { ...holder, ...made });
    tx.made(row.id);
    return row;
  });
}

/** Deletes one by `remove`. @throws NotFoundError, ForbiddenError, ConflictError if it has come into force */
export async function deleteDatedList<Row extends store.ListRow>(
  on: Platform,
  kind: ListKind,
  principal: Principal,
  { id, remove }: { id: number; remove: (tx: Transaction, row: Row) => Promise<void> },
): Promise<void> {
  const { table, name } = kind;
  const list = await findList<Row>(on.database.sql, kind, principal, id);
  if (list.scope !== 'client') requirePlatform(principal, SEVERAL);
  await on.database.accept(async (tx) => {
    if (list.client_id !== null) await lockClients(tx, [list.client_id]);
    await store.lockHolder(tx, table, list);
    await findList(tx.sql, kind, principal, id);
    if (list.client_id !== null) noteAccount(list.client_id);
    // It may have come into force while this waited for its locks.
    if (list.valid_from <= on.clock.now()) {
      throw new ConflictError(`${name} ${id} has come into force and is part of the past; let another one follow it`);
    }
    await remove(tx, list);
  });
}

async function findList<Row extends store.ListRow>(
  db: Sql,
  { rows, name }: ListKind,
  principal: Principal,
  id: number,
): Promise<Row> {
  return found(name, id, await store.findList<Row>(db, rows, sightOf(principal), id));
}

/**
 * Returns whom a list is for, locked: nobody else makes or removes a list for the same, and a client stays with its
 * reseller.
 * @throws InvalidError for what the caller doesn't manage or isn't there
 */
async function lockedHolder(
  tx: Transaction,
  table: store.ListTable,
  principal: Principal,
  { scope, id = 0 }: NewList,
): Promise<store.Holder> {
  const holder = {
    scope,
    reseller_id: scope === 'reseller' ? id : null,
    client_id: scope === 'client' ? id : null,
  };
  if (scope === 'client') {
    await lockClients(tx, [id]);
    if (!(await managesClient(tx.sql, principal, id))) throw unknown('Client', id);
    noteAccount(id);
  }
  if (scope === 'reseller' && !(await keepReseller(tx.sql, id))) throw unknown('Reseller', id);
  await store.lockHolder(tx, table, holder);
  return holder;
}

/** Whether the caller is the platform administrator or an administrator of the client's reseller. */
export async function managesClient(db: Sql, principal: Principal, clientId: number): Promise<boolean> {
  const client = await findClient(db, clientId);
  return client !== undefined && resells(principal, client);
}

function sightOf({ platformAdministrator, resellerId }: Principal): store.Sight {
  return platformAdministrator ? { all: true } : { all: false, resellerId: resellerId ?? 0 };
}

const unknown = (what: string, id: number) => new InvalidError({ id: [`${what} ${id} not found.`] });

const SEVERAL = 'says what holds for more than one account; name a client';
