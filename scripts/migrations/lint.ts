import { spawnSync } from 'node:child_process';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { SchemaMigration } from '../../migrations/migration.ts';

/** Rules of style, and `require-*-timeout`: the migrator sets the timeouts. */
const NOT_OURS = [
  'ban-char-field',
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'prefer-identity',
  'prefer-robust-stmts',
  'prefer-text-field',
  'require-enum-value-ordering',
  'require-lock-timeout',
  'require-statement-timeout',
];
/** Rules that the mark `breaking` turns off. */
const BREAKING = ['adding-required-field', 'ban-drop-column', 'ban-drop-table', 'renaming-column', 'renaming-table'];
/** Outside a transaction there is no lock timeout, so nothing is allowed that makes others queue. */
const HARMLESS = /\bconcurrently\b|\bvalidate constraint\b|^\s*select\b/i;
const UNNAMED =
  /(?<!\bconstraint\s+\S+\s+)(?:\bprimary key\b|\bforeign key\b|\bcheck\s*\(|\bunique\b(?!\s+index)|\breferences\b)/gi;

/** Returns the faults of a migration as text for the terminal; empty if there are none. */
export async function lint(name: string, migration: SchemaMigration, known: readonly string[]): Promise<string> {
  const { breaking, transaction } = migration;
  const statements = await statementsOf(migration);
  const faults = statements.flatMap((text) => [
    ...unnamedConstraints(text),
    ...(transaction === false && !HARMLESS.test(text)
      ? [`"${firstLine(text)}" has no lock timeout outside a transaction: move it to a migration of its own`]
      : []),
  ]);
  if (breaking !== undefined && (!known.includes(breaking) || breaking > name))
    faults.push(`breaking names "${breaking}", which is no migration up to this one`);
  const exclude = [...NOT_OURS, ...(breaking === undefined ? [] : BREAKING)];
  const { status, stdout, stderr, error } = spawnSync(
    'node_modules/.bin/squawk',
    [
      ...['--pg-version', '15.0', '--exclude', exclude.join(','), '--stdin-filepath', `migrations/${name}.ts`],
      ...(transaction === false ? [] : ['--assume-in-transaction']),
    ],
    { input: statements.map((text) => `${text};\n`).join('\n'), encoding: 'utf8' },
  );
  if (error) throw error;
  if (status !== 0) faults.push(`${stdout}${stderr}`);
  return faults.map((fault) => `${name}: ${fault}\n`).join('');
}

/** Returns the statements that a migration would run on an empty database, without a database. */
async function statementsOf({ up, transaction }: SchemaMigration): Promise<string[]> {
  const statements: string[] = [];
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log({ query }) {
      statements.push(query.sql);
    },
  });
  if (transaction === false) await up(db);
  else await db.transaction().execute(up);
  return statements;
}

/** PostgreSQL would number unnamed constraints, and nobody would know what `things_check1` means. */
function unnamedConstraints(statement: string): string[] {
  // After `foreign key`, `references` needs no name of its own; alone in a column's definition, it does.
  const text = statement
    .replace(/--.*$/gm, '')
    .replace(/'[^']*'/g, "''")
    .replace(/(\bforeign key\s*\([^)]*\)\s*)references/gi, '$1');
  if (!/^\s*(create|alter)\s+table\b/i.test(text)) return [];
  return [...text.matchAll(UNNAMED)].map(
    ([what]) =>
      `"${what.trim()}" in "${firstLine(statement)}" has no name: write "constraint <table>_<what it holds> ${what.trim()} ..."`,
  );
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
