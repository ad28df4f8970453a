import pg from 'pg';
import { createApi } from '../support/api.ts';
import { type BenchDatabase, startDatabase } from '../support/database.ts';
import { startProduct } from '../support/product.ts';
import { copyTemplate, knownIds, type Owner } from './copies.ts';
import { makeTemplate } from './template.ts';

/** How many rows there are; copies are of the template, which wants about 19 things. */
export interface Amounts {
  tasks: number;
  copies: number;
}

/** Of the account under test, in every database. */
const OWN: Amounts = { tasks: 10_000, copies: 550 };
const ACCOUNTS = 20;
const DAYS = 60;

/** A database with what the account under test has, and `more` of others. */
export async function fillDatabase(more: Amounts): Promise<BenchDatabase> {
  const database = await startDatabase();
  try {
    const { known, owners } = await prepare(database);
    const client = new pg.Client(database.connection);
    await client.connect();
    try {
      await client.query('set synchronous_commit = off; set jit = off');
      await copyTemplate(client, { own: OWN.copies, others: more.copies, owners }, known);
      await copyTasks(client, more);
      await client.query('vacuum (analyze)');
    } finally {
      await client.end();
    }
    return database;
  } catch (error) {
    await database.stop();
    throw error;
  }
}

/** The first owner is the account under test. */
async function prepare(database: BenchDatabase): Promise<{ known: string[]; owners: Owner[] }> {
  const product = await startProduct({
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: database.folder,
    TRADEWIND_SIMULATION_SPEED: '100000',
  });
  const pool = new pg.Pool({ ...database.connection, max: 1 });
  try {
    const api = createApi(product.port);
    for (let account = 0; account < ACCOUNTS; account++) {
      await api.call('POST', '/iam/clients/create', { company: `Other ${account}` });
    }
    const known = await knownIds(pool);
    const { rows: owners } = await pool.query<Owner>(
      `select client_id::int, id::int as project_id, case when id % 2 = 1 then 1 else 2 end as region_id
       from projects order by id`,
    );
    await makeTemplate(api);
    return { known, owners };
  } finally {
    await pool.end();
    await product.stop();
  }
}

/** Rows first, indexes after. The tasks are those of the template again and again, of the copies in turn. */
async function copyTasks(client: pg.Client, others: Amounts): Promise<void> {
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where tablename = 'tasks' and indexname not like '%_pkey'`,
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  await client.query(
    'create temporary table former as select row_number() over () - 1 as turn, * from tasks',
  );
  for (const [{ tasks, copies }, after] of [
    [OWN, 0],
    [others, OWN.copies],
  ] as const) {
    if (tasks === 0) continue;
    await client.query(
      `insert into tasks (id, task_type, state, error, client_id, user_id, user_client_id, project_id, region_id, request_id,
         data, input, created_resources, created_on, updated_on, finished_on, deadline_at, acknowledged_at, acknowledged_by)
       select gen_random_uuid(), task_type, drawn.state, case drawn.state when 'ERROR' then 'The infrastructure refused it' end,
         copies.client_id, user_id, copies.client_id, copies.project_id, copies.region_id, request_id,
         data, input, created_resources, at, ended, ended, at + interval '1 hour',
         case when t % 3 = 0 then ended end, case when t % 3 = 0 then user_id end
       from generate_series(1, $1::int) t join copies on n = $3::int + 1 + t % $2::int
       join former on turn = t % (select count(*) from former)
       cross join lateral (select now() - interval '1 hour' - t * interval '${DAYS} days' / $1 as at) as begun
       cross join lateral (select at + interval '2 seconds' as ended,
         case when t % 50 = 7 then 'ERROR' else 'FINISHED' end as state) as drawn`,
      [tasks, copies, after],
    );
  }
  for (const { definition } of indexes) await client.query(definition);
}
