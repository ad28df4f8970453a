import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type BenchDatabase, startDatabase } from '../support/database.ts';
import { type Product, startProduct, TOKEN } from '../support/product.ts';
import { percentile } from '../support/statistics.ts';
import { markdownTable, shown } from '../support/table.ts';

const FEW = 10_000;
const MANY = 1_000_000;
const TARGET = 3;
const DAYS = 28;

const REQUESTS: readonly [string, string][] = [
  ['first page', ''],
  ['status, nearly all', 'status=SUCCESS'],
  ['status, few', 'status=REVOKED'],
  ['task name', 'task_name=transcription'],
  ['task name and status', 'task_name=content-moderation&status=FAILURE'],
  ['day of creation', `date_created=${new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10)}`],
  ['task id', `task_id=${randomUUID()}`],
  ['ordered by task_id', 'ordering=task_id'],
  ['ordered by status', 'ordering=status'],
  ['ordered by task_name', 'ordering=task_name'],
  ['ordered by started_at', 'ordering=started_at'],
  ['search, hits all', 'search=media.example'],
  ['search, hits one in a thousand', 'search=batch-0123'],
  ['search, hits one', 'search=video-0007777'],
  ['search, misses', 'search=nothing-like-this'],
  ['search that is a status', 'search=revoked'],
  ['page 1000', 'page=1000'],
];

/** Compares the list of an account with very many tasks with that of an account with few. */
export async function measureLists({ quick }: { quick: boolean }): Promise<string> {
  const calls = quick ? 20 : 100;
  const few = await openSide(FEW);
  const many = await openSide(quick ? MANY / 10 : MANY);
  try {
    const rows: string[][] = [];
    for (const [name, query] of REQUESTS) {
      const first = await timed(many, query);
      await timed(few, query);
      const times: Record<'few' | 'many', number[]> = { few: [], many: [] };
      for (let call = 0; call < calls; call++) {
        times.few.push(await timed(few, query));
        times.many.push(await timed(many, query));
      }
      const [small, large] = [percentile(times.few, 0.95), percentile(times.many, 0.95)];
      const ratio = large / small;
      rows.push([name, shown(small), shown(large), `${ratio > TARGET ? 'MISSED ' : ''}${shown(ratio)}`, shown(first)]);
    }
    const header = [
      'list',
      `p95 ms, ${shown(few.tasks)} tasks`,
      `p95 ms, ${shown(many.tasks)} tasks`,
      'ratio',
      'first ms',
    ];
    return `${markdownTable(header, rows)}\n\nThe target of the ratio is ${TARGET}. "first" is the first call of all with that query, when nothing is known of its count.`;
  } finally {
    for (const side of [few, many]) {
      await side.product.stop();
      await side.database.stop();
    }
  }
}

interface Side {
  tasks: number;
  database: BenchDatabase;
  product: Product;
}

async function openSide(tasks: number): Promise<Side> {
  const database = await startDatabase();
  const product = await startProduct(
    { DATABASE_URL: database.url, TRADEWIND_DATA_DIR: database.folder },
    { role: 'api' },
  );
  try {
    await fillAiTasks(database, tasks);
  } catch (error) {
    await product.stop();
    await database.stop();
    throw error;
  }
  return { tasks, database, product };
}

async function timed({ product }: Side, query: string): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(`http://127.0.0.1:${product.port}/streaming/ai/tasks?${query}`, {
    headers: { authorization: `apikey ${TOKEN}` },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${query} answered ${answer.status}: ${text.slice(0, 300)}`);
  return performance.now() - begun;
}

/** Inserts rows before creating indexes: updating nine indexes for each row would take many times as long. */
export async function fillAiTasks({ connection }: BenchDatabase, tasks: number): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select indexname as name, indexdef as definition from pg_indexes
       where tablename = 'ai_tasks' and indexname not like '%_pkey'`,
    );
    await client.query('alter table ai_tasks disable trigger user');
    for (const { name } of indexes) await client.query(`drop index ${name}`);
    await client.query(
      `insert into ai_tasks (id, client_id, task_name, status, progress, task_data, search_text, created_at, started_at, completed_at)
       select id, 1, name, status, case status when 'SUCCESS' then 100 else 0 end,
         jsonb_build_object('task_name', name, 'client_id', 1, 'url', url, 'client_user_id', batch),
         concat_ws(chr(31), id, name, 1, url, batch), at, at + interval '5 seconds', at + interval '65 seconds'
       from (
         select gen_random_uuid() as id,
           case when n % 3 = 0 then 'content-moderation' else 'transcription' end as name,
           case when n % 50 = 0 then 'REVOKED' when n % 20 = 1 then 'FAILURE' else 'SUCCESS' end as status,
           'https://media.example.com/video-' || lpad(n::text, 7, '0') || '.mp4' as url,
           'batch-' || lpad((n % 1000)::text, 4, '0') as batch,
           now() - interval '1 hour' - n * interval '${DAYS} days' / $1 as at
         from generate_series(1, $1) n) task`,
      [tasks],
    );
    for (const { definition } of indexes) await client.query(definition);
    await client.query('alter table ai_tasks enable trigger user');
    await client.query('vacuum (analyze) ai_tasks');
  } finally {
    await client.end();
  }
}
