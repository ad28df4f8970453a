import pg from 'pg';
import { createApi } from '../support/api.ts';
import { type BenchDatabase, startDatabase } from '../support/database.ts';
import { startProduct } from '../support/product.ts';
import { copyTemplate, type Owner, type Template, templateOf } from './copies.ts';
import { makeTemplate } from './template.ts';

/** How many rows to insert; copies are of the template, which contains about 19 things. */
export interface Amounts {
  tasks: number;
  copies: number;
}

/** For the account under test, in every database. */
const OWN: Amounts = { tasks: 10_000, copies: 550 };
const ACCOUNTS = 20;
const DAYS = 60;

/** Fills a database with the things of the account under test, and `more` of others. */
export async function fillDatabase(more: Amounts): Promise<BenchDatabase> {
  const database = await startDatabase();
  try {
    const { template, owners } = await prepare(database);
    const client = new pg.Client(database.connection);
    await client.connect();
    try {
      await client.query('set synchronous_commit = off; set jit = off');
      await copyTemplate(client, template, { own: OWN.copies, others: more.copies, owners });
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
async function prepare(database: BenchDatabase): Promise<{ template: Template; owners: Owner[] }> {
  const product = await startProduct({
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: database.folder,
    TRADEWIND_SIMULATION_SPEED: '100000',
  });
  const pool = new pg.Pool({ ...database.connection, max: 1 });
  try {
    const api = createApi(product.port);
    const template = await templateOf(pool, () => makeTemplate(api));
    for (let account = 0; account < ACCOUNTS; account++) {
      await api.call('POST', '/iam/clients/create', { company: `Other ${account}` });
    }
    const { rows: owners } = await pool.query<Owner>(
      `select client_id::int, id::int as project_id, case when id % 2 = 1 then 1 else 2 end as region_id
       from projects order by id`,
    );
    return { template, owners };
  } finally {
    await pool.end();
    await product.stop();
  }
}

/** Inserts rows before creating indexes. The tasks are those of the template, repeated. */
async function copyTasks(client: pg.Client, others: Amounts): Promise<void> {
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where tablename = 'tasks' and indexname not like '%_pkey'`,
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  await client.query(
    'create temporary table former as select row_number() over () - 1 as turn, * from tasks',
  );
  // The tasks of the account under test are spread among the others.
  await client.query(
    `insert into tasks (id, task_type, state, error, client_id, user_id, user_client_id, project_id, region_id, request_id,
       data, input, created_resources, created_on, updated_on, finished_on, deadline_at, acknowledged_at, acknowledged_by)
     select gen_random_uuid(), task_type, drawn.state, case drawn.state when 'ERROR' then 'The infrastructure refused it' end,
       owner.client_id::int, user_id, owner.client_id::int, owner.project_id::int, owner.region_id::int, request_id,
       data, input, created_resources, at, ended, ended, at + interval '1 hour',
       case when k % 7 < 2 then ended end, case when k % 7 < 2 then user_id end
     from (select $1::int + $2::int as total, ($1 + $2) / $1 as each) as amounts
     cross join generate_series(1, total) t
     cross join lateral (select case when t % each = 0 then t / each else t end as k) as counted
     join copies as owner on n = case when t % each = 0 then 1 else $3::int + 1 + t % $4::int end
     join former on turn = k % (select count(*) from former)
     cross join lateral (select now() - interval '1 hour' - t * interval '${DAYS} days' / total as at) as begun
     cross join lateral (select at + interval '2 seconds' as ended,
       case when k % 51 = 7 then 'ERROR' else 'FINISHED' end as state) as drawn`,
    [OWN.tasks, others.tasks, OWN.copies, Math.max(others.copies, 1)],
  );
  for (const { definition } of indexes) await client.query(definition);
}
