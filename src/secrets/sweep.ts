import { type RawBuilder, sql } from 'kysely';
import type { Database, Sql } from '../db/database.ts';
import { type ColumnShape, SECRET_COLUMNS, type SecretColumn, shapeOf } from './columns.ts';
import { beginningOf, type DataKey, dataKeyIdOf, openWith, sealedWith, sealWith } from './sealed.ts';

const BATCH = 200;

export interface Swept {
  /** Values that are now encrypted with the newest key. */
  changed: number;
  /** Tables that contained readable values before. */
  plain: Set<string>;
  /** What no key opens, by column. */
  unreadable: Map<SecretColumn, number>;
}

interface Kept {
  row: string[];
  kept: string;
}
interface Change extends Kept {
  next: string;
}

/**
 * Encrypts everything with `newest`, in batches, while others read and write. A value that somebody changes
 * meanwhile keeps that change. Reads with `db`. Writes in transactions, since a removal that locks the same rows
 * in another order may be what a deadlock ends.
 */
export async function sweep(
  { db, database }: { db: Sql; database: Pick<Database, 'transaction'> },
  newest: DataKey,
  all: ReadonlyMap<number, DataKey>,
): Promise<Swept> {
  const swept: Swept = { changed: 0, plain: new Set(), unreadable: new Map() };
  for (const column of SECRET_COLUMNS) {
    const shape = shapeOf(column);
    let last: string[] | undefined;
    for (;;) {
      const batch = await nextBatch(db, shape, newest.id, last);
      last = batch.at(-1)?.row;
      if (last === undefined) break;
      const changes = batch.flatMap((kept) => sealedAnew(kept, column, { newest, all, swept }));
      if (changes.length === 0) continue;
      swept.changed += await database.transaction((tx) => write(tx.sql, shape, changes));
    }
  }
  return swept;
}

/** Returns nothing for a value that no key decrypts, but counts it. */
function sealedAnew(
  { row, kept }: Kept,
  column: SecretColumn,
  { newest, all, swept }: { newest: DataKey; all: ReadonlyMap<number, DataKey>; swept: Swept },
): Change[] {
  const { json, table } = shapeOf(column);
  const value: unknown = json ? JSON.parse(kept) : kept;
  const id = dataKeyIdOf(value);
  if (id === undefined) {
    swept.plain.add(table);
    return [{ row, kept, next: sealWith(newest, column, row, value) }];
  }
  try {
    const key = all.get(id);
    if (!key) throw new Error(`There is no data key ${id}`);
    return [{ row, kept, next: sealWith(newest, column, row, openWith(key, column, row, String(value))) }];
  } catch {
    swept.unreadable.set(column, (swept.unreadable.get(column) ?? 0) + 1);
    return [];
  }
}

async function nextBatch(db: Sql, shape: ColumnShape, newestId: number, last: readonly string[] | undefined) {
  const column = sql.ref(shape.column);
  const keys = sql.join(Object.keys(shape.keys).map((name) => sql.ref(name)));
  const further = last ? sql`and (${keys}) > (${sql.join(typed(shape, last))})` : sql``;
  const { rows } = await sql<Kept>`
    select array[${sql.join(Object.keys(shape.keys).map((name) => sql`${sql.ref(name)}::text`))}] as row, ${column}::text as kept
    from ${sql.table(shape.table)}
    where ${column} is not null and not ${isSealedWith(shape, newestId)} ${further}
    order by ${keys} limit ${BATCH}`.execute(db);
  return rows;
}

async function write(db: Sql, shape: ColumnShape, changes: readonly Change[]): Promise<number> {
  const names = Object.keys(shape.keys);
  const columns = [
    ...Object.values(shape.keys).map((type, index) => sql`${changes.map(({ row }) => row[index])}::${sql.raw(type)}[]`),
    sql`${changes.map(({ kept }) => kept)}::text[]`,
    sql`${changes.map(({ next }) => next)}::text[]`,
  ];
  const same = names.map((name) => sql`at.${sql.ref(name)} = change.${sql.ref(name)}`);
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(shape.table)} as at
    set ${sql.ref(shape.column)} = change.new_value::${sql.raw(shape.json ? 'jsonb' : 'text')}
    from unnest(${sql.join(columns)}) as change (${sql.join([...names, 'old_value', 'new_value'].map((name) => sql.ref(name)))})
    where ${sql.join(same, sql` and `)} and at.${sql.ref(shape.column)}::text = change.old_value`.execute(db);
  return Number(numAffectedRows);
}

function typed({ keys }: ColumnShape, row: readonly string[]): RawBuilder<unknown>[] {
  return Object.values(keys).map((type, index) => sql`${row[index]}::${sql.raw(type)}`);
}

function textOf({ column, json }: ColumnShape): RawBuilder<string> {
  return json ? sql`(${sql.ref(column)} #>> '{}')` : sql`${sql.ref(column)}`;
}

/** How many values are encrypted with one of these data keys, by column. */
export function countSealed(db: Sql, dataKeyIds: readonly number[]) {
  return countWhere(db, (shape) => sealedWithOneOf(shape, dataKeyIds));
}

/** How many values are not encrypted with this data key, by column. */
export function countOthers(db: Sql, dataKeyId: number) {
  return countWhere(db, (shape) => sql`not ${isSealedWith(shape, dataKeyId)}`);
}

/** A null column is in neither count. */
async function countWhere(
  db: Sql,
  those: (shape: ColumnShape) => RawBuilder<unknown>,
): Promise<Map<SecretColumn, number>> {
  const counts = new Map<SecretColumn, number>();
  for (const column of SECRET_COLUMNS) {
    const shape = shapeOf(column);
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(shape.table)} where ${those(shape)}`.execute(db);
    const count = rows[0]?.count ?? 0;
    if (count > 0) counts.set(column, count);
  }
  return counts;
}

/** Deletes the values that are encrypted with one of these data keys, and rows that are useless without them. */
export async function removeSealed(db: Sql, dataKeyIds: readonly number[]): Promise<void> {
  for (const shape of SECRET_COLUMNS.map(shapeOf)) {
    const those = sealedWithOneOf(shape, dataKeyIds);
    const { table, column, lost } = shape;
    await (lost === 'row'
      ? sql`delete from ${sql.table(table)} where ${those}`
      : sql`update ${sql.table(table)} set ${sql.ref(column)} = null where ${those}`
    ).execute(db);
  }
}

function isSealedWith(shape: ColumnShape, dataKeyId: number): RawBuilder<boolean> {
  return sql`(${textOf(shape)} ~ ${sealedWith(dataKeyId)})`;
}

function sealedWithOneOf(shape: ColumnShape, dataKeyIds: readonly number[]): RawBuilder<unknown> {
  return sql`${textOf(shape)} like any(${dataKeyIds.map((id) => `${beginningOf(id)}%`)}::text[])`;
}
