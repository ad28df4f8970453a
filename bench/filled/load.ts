import pg from 'pg';
import { TASKS } from '../../src/cloud/ground/tasks/store.ts';
import { USER_ACTIONS } from '../../src/cloud/ground/user-actions/store.ts';
import { keepQuarters } from '../../src/db/quarters.ts';
import { createApi } from '../support/api.ts';
import { type BenchDatabase, startDatabase } from '../support/database.ts';
import { startProduct } from '../support/product.ts';
import { copyTemplate, type Owner, type Template, templateOf } from './copies.ts';
import { makeTemplate } from './template.ts';

/** How many rows to insert; copies are of the template, which contains about 19 things. */
export interface Amounts {
  tasks: number;
  actions: number;
  copies: number;
}

/** Of the account under test, in every database. */
const OWN: Amounts = { tasks: 10_000, actions: 5_000, copies: 550 };
const ACCOUNTS = 20;
const DAYS = 360;
/** For ever, as far as these rows go. */
const KEPT_DAYS = 99_999;

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
      await makeQuarters(database.connection, more.tasks > 0 ? DAYS + 120 : 0);
      await withoutIndexes(client, 'tasks', () => copyTasks(client, more));
      await withoutIndexes(client, 'user_actions', () => copyActions(client, more));
      await client.query('vacuum (analyze)');
    } finally {
      await client.end();
    }
    await writeToDisk(database.connection);
    return database;
  } catch (error) {
    await database.stop();
    throw error;
  }
}

/** Else reads would also write what the loading left in memory. */
async function writeToDisk(connection: BenchDatabase['connection']): Promise<void> {
  const superuser = new pg.Client({ ...connection, user: 'postgres' });
  await superuser.connect();
  await superuser.query('checkpoint');
  await superuser.end();
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

/** The next quarter and those of that time, as they would have been made and closed. */
async function makeQuarters(connection: BenchDatabase['connection'], days: number): Promise<void> {
  const pool = new pg.Pool({ ...connection, max: 1 });
  try {
    for (let daysAgo = days; daysAgo >= 0; daysAgo -= 30) {
      const now = new Date(Date.now() - daysAgo * 86_400_000);
      for (const table of [TASKS, USER_ACTIONS])
        await keepQuarters({ pool }, table, {
          now,
          before: new Date(now.getTime() - KEPT_DAYS * 86_400_000),
        });
    }
  } finally {
    await pool.end();
  }
}

/** Rows first, indexes and foreign keys after. Nothing tells of them, as of the rows that time has made. */
export async function withoutIndexes(client: pg.Client, table: string, load: () => Promise<void>): Promise<void> {
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where tablename = $1
       and not exists (select from pg_constraint where conindid = quote_ident(indexname)::regclass)`,
    [table],
  );
  const { rows: keys } = await client.query<{ name: string; definition: string }>(
    `select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
     where conrelid = $1::regclass and contype = 'f'`,
    [table],
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  for (const { name } of keys) await client.query(`alter table ${table} drop constraint ${name}`);
  await client.query(`alter table ${table} disable trigger user`);
  await load();
  await client.query(`alter table ${table} enable trigger user`);
  for (const { name, definition } of keys)
    await client.query(`alter table ${table} add constraint ${name} ${definition}`);
  for (const { definition } of indexes) await client.query(definition.replace(' ON ONLY ', ' ON '));
}

/** Row `t` of `total`, the newest first. Those of the account under test lie among the others. */
const drawnFor = (own: number) => `
  (select ${own} + $1::int as total, (${own} + $1) / ${own} as each) as amounts
  cross join generate_series(1, total) t
  cross join lateral (select case when t % each = 0 then t / each else t end as k) as counted
  join copies as owner on n = case when t % each = 0 then 1 else $2::int + 1 + t % $3::int end
  join former on turn = k % (select count(*) from former)
  cross join lateral (select now() - interval '1 hour' - (t::float8 / total) * interval '${DAYS} days' as at) as begun`;

/** The rows are those of the template again and again. */
async function copyTasks(client: pg.Client, others: Amounts): Promise<void> {
  await client.query('create temporary table former as select row_number() over () - 1 as turn, * from tasks');
  await client.query('analyze former');
  await client.query(
    `insert into tasks (id, task_type, state, error, client_id, user_id, user_client_id, project_id, region_id, request_id,
       data, input, created_resources, created_on, updated_on, finished_on, deadline_at, acknowledged_at, acknowledged_by)
     select (substr(time, 1, 8) || '-' || substr(time, 9) || '-7' || substr(gen_random_uuid()::text, 16))::uuid,
       task_type, drawn.state, case drawn.state when 'ERROR' then 'The infrastructure refused it' end,
       owner.client_id::int, user_id, owner.client_id::int, owner.project_id::int, owner.region_id::int, request_id,
       data, input, created_resources, at, ended, ended, at + interval '1 hour',
       case when k % 7 < 2 then ended end, case when k % 7 < 2 then user_id end
     from ${drawnFor(OWN.tasks)}
     cross join lateral (select at + interval '2 seconds' as ended,
       case when k % 51 = 7 then 'ERROR' else 'FINISHED' end as state,
       lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') as time) as drawn`,
    [others.tasks, OWN.copies, Math.max(others.copies, 1)],
  );
  await client.query('drop table former');
}

async function copyActions(client: pg.Client, others: Amounts): Promise<void> {
  await client.query('create temporary table former as select row_number() over () - 1 as turn, * from user_actions');
  await client.query('analyze former');
  await client.query(
    `insert into user_actions (client_id, user_id, token_id, request_id, operation, method, path, project_id, region_id,
       task_id, source_user_ip, user_agent, outcome, status, "timestamp", api_group, action_type, resource_types,
       resource_ids, resource_names)
     select owner.client_id::int, user_id, token_id, gen_random_uuid(), operation, method, path, owner.project_id::int,
       owner.region_id::int, task_id, source_user_ip, user_agent, outcome, status, at, api_group, action_type,
       resource_types, resource_ids, resource_names
     from ${drawnFor(OWN.actions)}`,
    [others.actions, OWN.copies, Math.max(others.copies, 1)],
  );
  await client.query('drop table former');
}
