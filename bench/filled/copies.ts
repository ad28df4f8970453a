import type pg from 'pg';
import { NUMBERED } from './template.ts';

/** An account with its project, and the region of its copies. */
export interface Owner {
  client_id: number;
  project_id: number;
  region_id: number;
}

export interface Copies {
  /** Copies for the account under test: the same number in every database. */
  own: number;
  /** Copies for the other accounts, in turn. */
  others: number;
  owners: readonly Owner[];
}

/** Referenced tables come first. */
const TABLES = [
  'ssh_keys networks subnets kubernetes_clusters kubernetes_pools kubernetes_credentials security_groups',
  'security_group_rules instances ports port_security_groups volumes volume_attachments snapshots images',
  'file_shares floating_ips ip_assignments wants simulated_objects',
].flatMap((line) => line.split(' '));

/** The rows of the template as JSON, by table, with placeholders for what differs between copies. */
export type Template = ReadonlyMap<string, readonly string[]>;

const UUID = /([0-9a-f]{8}-(?:[0-9a-f]{4}-){3})[0-9a-f]{12}/g;
/** What differs between copies, as columns. */
const PLACES = ['node', 'number', 'mac', 'address', 'client_id', 'project_id', 'region_id'];

/** Returns the rows that `make` adds to the tables. */
export async function templateOf(pool: pg.Pool, make: () => Promise<void>): Promise<Template> {
  // Ids that existed before belong to the platform, and stay the same in copies.
  const before = [...(await rowsOf(pool)).values()].flat();
  const known = new Set(before.flatMap((row) => row.match(UUID) ?? []));
  await make();
  const after = await rowsOf(pool);
  const [floating = '{}'] = after.get('floating_ips') ?? [];
  const { address } = JSON.parse(floating) as { address: string };
  const isOurs = (row: string) => row.match(UUID)?.some((id) => !known.has(id));
  const opened = (row: string) =>
    ['client_id', 'project_id', 'region_id']
      .reduce((text, name) => text.replaceAll(`"${name}": 1,`, `"${name}": @${name}@,`), row)
      // What belongs together stays together in each copy: the end of every id becomes the number of the
      // copy.
      .replaceAll(UUID, (id, head: string) => (known.has(id) ? id : `${head}@node@`))
      .replaceAll(NUMBERED, 'copy-@number@')
      .replaceAll('"02:00:00:00:', '"@mac@')
      .replaceAll(`"${address}"`, '"@address@"');
  return new Map([...after].map(([table, rows]) => [table, rows.filter(isOurs).map(opened)]));
}

async function rowsOf(pool: pg.Pool): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const table of TABLES) {
    const { rows } = await pool.query<{ text: string }>(`select to_jsonb(one)::text as text from ${table} as one`);
    found.set(
      table,
      rows.map(({ text }) => text),
    );
  }
  return found;
}

/** Leaves the list of copies in a temporary table. */
export async function copyTemplate(
  client: pg.Client,
  template: Template,
  { own, others, owners }: Copies,
): Promise<void> {
  await client.query(
    `create temporary table copies as
     select n, client_id, project_id, region_id, lpad(to_hex(n), 12, '0') as node, lpad(n::text, 7, '0') as number,
       '02:' || regexp_replace(lpad(to_hex(n), 6, '0'), '(..)', '\\1:', 'g') as mac,
       host('100.64.0.0'::inet + n) as address
     from generate_series(1, $1::int + $2::int) n
     join rows from (jsonb_to_recordset($3) as (client_id text, project_id text, region_id text)) with ordinality
       as owner (client_id, project_id, region_id, turn)
       on turn = case when n <= $1 then 1 else 2 + n % (jsonb_array_length($3) - 1) end
     -- Those of the account under test lie among the others.
     order by case when n <= $1 then n::float8 / $1 else (n - $1)::float8 / $2 end`,
    [own, others, JSON.stringify(owners)],
  );
  await client.query('analyze copies');
  const filled = PLACES.reduce((text, name) => `replace(${text}, '@${name}@', copies.${name})`, 'row_text');
  for (const [table, rows] of template) {
    const columns = await columnsOf(client, table);
    await client.query(
      `insert into ${table} (${columns.join(', ')})
       select ${columns.map(shiftedBack).join(', ')} from copies cross join unnest($1::text[]) as row_text
       cross join lateral jsonb_populate_record(null::${table}, ${filled}::jsonb) as made`,
      [rows],
    );
  }
}

/** Each copy is a little older than the one before. */
const shiftedBack = (column: string) =>
  column === 'created_at' ? `made.created_at - n * interval '1 minute'` : `made.${column}`;

export async function columnsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(column_name) as name from information_schema.columns
     where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'`,
    [table],
  );
  return rows.map(({ name }) => name);
}
