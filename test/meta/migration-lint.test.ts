import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createIndexConcurrently, type SchemaMigration } from '../../migrations/migration.ts';
import { lint } from '../../scripts/migrations/lint.ts';

const NAME = '9002_new';
const doing = (text: string, more: Omit<SchemaMigration, 'up'> = {}): SchemaMigration => ({
  async up(db) {
    await sql.raw(text).execute(db);
  },
  ...more,
});
const faultsOf = (migration: SchemaMigration) => lint(NAME, migration, ['9001_before', NAME]);

it.each([
  ['create table t (id bigint primary key)', '"primary key" in'],
  ["create table t (id bigint, a text check (a <> ''))", '"check (" in'],
  ['create table t (id bigint, a text unique)', '"unique" in'],
  ['create table t (id bigint, a bigint references volumes)', '"references" in'],
  ['create table t (id bigint, foreign key (id) references volumes)', '"foreign key" in'],
  ['create index volumes_x on volumes (name)', 'require-concurrent-index-creation'],
  ['drop index volumes_x', 'require-concurrent-index-deletion'],
  ['alter table volumes add column note text not null', 'adding-required-field'],
  ['alter table volumes alter column name set not null', 'adding-not-nullable-field'],
  ['alter table volumes alter column size_gib type text', 'changing-column-type'],
  ['alter table volumes rename column name to title', 'renaming-column'],
  ['alter table volumes rename to disks', 'renaming-table'],
  ['alter table volumes drop column name', 'ban-drop-column'],
  ['drop table volumes', 'ban-drop-table'],
  ["alter table volumes add constraint volumes_name check (name <> '')", 'constraint-missing-not-valid'],
])('refuses %s', async (text, fault) => {
  expect(await faultsOf(doing(text))).toContain(fault);
});

it('lets through what nobody waits for, and what the mark says', async () => {
  const fine = [
    doing(`create table t (id bigint constraint t_pkey primary key, volume_id uuid,
      constraint t_volume_fkey foreign key (volume_id) references volumes, constraint t_once unique (volume_id))`),
    doing("alter table volumes add column note text not null default 'primary key'"),
    doing("alter table volumes add constraint volumes_name check (name <> '') not valid"),
    doing('alter table volumes drop column name', { breaking: '9001_before' }),
    doing('-- squawk-ignore require-concurrent-index-deletion\ndrop index volumes_x'),
    { transaction: false as const, up: (db) => createIndexConcurrently(db, 'volumes_x', 'volumes (name)') },
  ] satisfies SchemaMigration[];
  for (const migration of fine) expect(await faultsOf(migration)).toBe('');
});

it('refuses a mark that names nothing, and what others queue behind outside a transaction', async () => {
  expect(await faultsOf(doing('select 1', { breaking: '9003_after' }))).toContain(
    'which is no migration up to this one',
  );
  const outside = doing('alter table volumes add column note text', { transaction: false });
  expect(await faultsOf(outside)).toContain('has no lock timeout');
});
