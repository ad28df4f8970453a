import { type Kysely, sql } from 'kysely';

/**
 * The log of requests is cut into quarters of a year, so that old ones can be dropped. The existing table becomes the
 * default partition: nothing is copied or scanned. Older releases read and write the new table as they did the old one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Another table has the name again before anybody else can look.
  await sql`
    -- squawk-ignore renaming-table
    alter table user_actions rename to user_actions_default`.execute(db);
  // An identity belongs to one table.
  await sql`alter table user_actions_default alter column id drop identity`.execute(db);
  await sql`create sequence user_actions_id`.execute(db);
  await sql`select setval('user_actions_id', coalesce(max(id), 0) + 1, false) from user_actions_default`.execute(db);
  await sql`alter table user_actions_default alter column id set default nextval('user_actions_id')`.execute(db);
  // An id is unique in its quarter. A key of the whole table would have to name the time as well.
  await sql`
    create table user_actions (like user_actions_default including defaults including constraints)
      partition by range ("timestamp")`.execute(db);
  await sql`alter sequence user_actions_id owned by user_actions.id`.execute(db);
  await takeIndexes(db, 'user_actions');
  await sql`alter table user_actions attach partition user_actions_default default`.execute(db);
}

/** Gives the new table the indexes of its default partition, which keeps its own under other names. */
export async function takeIndexes(db: Kysely<unknown>, table: string): Promise<void> {
  const { rows } = await sql<{ name: string; definition: string; is_key: boolean }>`
    select relname as name, pg_get_indexdef(indexrelid) as definition, indisprimary as is_key
    from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = ${`${table}_default`}::regclass`.execute(
    db,
  );
  for (const { name, definition, is_key } of rows) {
    await sql`alter index ${sql.id(name)} rename to ${sql.id(name.replace(table, `${table}_default`))}`.execute(db);
    const own = definition.replace(/ ON (ONLY )?(\w+\.)?\w+ /, ` ON ${table} `);
    if (!is_key) await sql.raw(own).execute(db);
  }
}
