import type pg from 'pg';
import { NUMBERED } from './template.ts';

/** An account with its project, and the region in which its copies are. */
export interface Owner {
  client_id: number;
  project_id: number;
  region_id: number;
}

export interface Copies {
  /** The account under test: as many in every database. */
  own: number;
  /** Of the other accounts, in turn. */
  others: number;
  owners: readonly Owner[];
}

/** What others refer to comes first. */
const TABLES = [
  'ssh_keys networks subnets kubernetes_clusters kubernetes_pools kubernetes_credentials security_groups',
  'security_group_rules instances ports port_security_groups volumes volume_attachments snapshots images',
  'file_shares floating_ips ip_assignments wants simulated_objects',
].flatMap((line) => line.split(' '));

/** Ids that are there before the template is made are the platform's, and stay as they are in copies. */
export async function knownIds(pool: pg.Pool): Promise<string[]> {
  const ids = TABLES.filter((table) => !WITHOUT_ID.has(table)).map((table) => `select id from ${table}`);
  const { rows } = await pool.query<{ id: string }>(ids.join(' union '));
  return rows.map(({ id }) => id);
}
const WITHOUT_ID = new Set(['kubernetes_credentials', 'port_security_groups', 'ip_assignments']);

/**
 * Copies the rows of the template: in the text of a row, the end of every id of ours becomes the number of the copy, and
 * so do the numbers in names and addresses. What belongs together then does so in each copy.
 */
export async function copyTemplate(
  client: pg.Client,
  { own, others, owners }: Copies,
  known: readonly string[],
): Promise<void> {
  await client.query(
    `create temporary table copies as
     select n, lpad(to_hex(n), 12, '0') as node, client_id, project_id, region_id
     from generate_series(1, $1::int + $2::int) n
     join rows from (jsonb_to_recordset($3) as (client_id int, project_id int, region_id int)) with ordinality
       as owner (client_id, project_id, region_id, turn)
       on turn = case when n <= $1 then 1 else 2 + n % (jsonb_array_length($3) - 1) end`,
    [own, others, JSON.stringify(owners)],
  );
  await client.query('analyze copies');
  const foreign = known.map((id) => id.slice(0, 8)).join('|');
  const id = `(?!${foreign})([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-)[0-9a-f]{12}`;
  const { rows } = await client.query<{ address: string }>(
    'select host(address) as address from floating_ips',
  );
  for (const table of TABLES) {
    const columns = await columnsOf(client, table);
    await client.query(
      `insert into ${table} (${columns.join(', ')})
       select ${columns.map(shiftedBack).join(', ')} from ${table} as row cross join copies
       cross join lateral (select to_jsonb(row)::text as former) as before
       cross join lateral (select regexp_replace(former, $1, '\\1' || node, 'g') as text) as renamed
       cross join lateral (select regexp_replace(text, '"02:00:00:00:',
         regexp_replace(right(node, 6), '(..)(..)(..)', '"02:\\1:\\2:\\3:')) as unlike) as addressed
       cross join lateral (select replace(replace(replace(replace(replace(unlike,
         $2, 'copy-' || lpad(n::text, 7, '0')), '"' || $3 || '"', '"' || host('100.64.0.0'::inet + n) || '"'),
         '"client_id": 1,', format('"client_id": %s,', client_id)),
         '"project_id": 1,', format('"project_id": %s,', project_id)),
         '"region_id": 1,', format('"region_id": %s,', region_id))::jsonb as copy) as copied
       cross join lateral jsonb_populate_record(null::${table}, copy) as made
       where text <> former`,
      [id, NUMBERED, rows[0]?.address],
    );
  }
}

/** Each copy is a little older than the one before. */
const shiftedBack = (column: string) =>
  column === 'created_at' ? `made.created_at - n * interval '1 minute'` : `made.${column}`;

async function columnsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'`,
    [table],
  );
  return rows.map(({ name }) => name);
}
