import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { furnish } from '../support/furnishing.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const LISTS = [
  ...'file_shares floatingips images instances lblisteners lbpools loadbalancers networks ports reserved_fixed_ips'.split(
    ' ',
  ),
  ...'routers secrets securitygroups servergroups snapshots subnets volumes'.split(' '),
].map((kind) => `/cloud/v1/${kind}/1/1`);

/** Returns each statement that is sent to PostgreSQL meanwhile. */
async function statementsOf(work: () => Promise<void>): Promise<Set<string>> {
  const texts = new Set<string>();
  const clients = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const { query } = clients;
  clients.query = function (this: object, config, ...rest) {
    texts.add(typeof config === 'string' ? config : ((config as { text?: string } | undefined)?.text ?? ''));
    return query.call(this, config, ...rest);
  };
  try {
    await work();
  } finally {
    clients.query = query;
  }
  return texts;
}

interface Plan {
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Returns the plan that is kept for all values, as PostgreSQL makes it while it knows nothing of the tables. */
async function planOf(client: pg.PoolClient, text: string): Promise<Plan> {
  const parameters = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  await client.query(`prepare one as ${text}`);
  try {
    const values = parameters > 0 ? `(${Array(parameters).fill('null').join(', ')})` : '';
    const { rows } = await client.query(`explain (format json) execute one${values}`);
    return rows[0]['QUERY PLAN'][0].Plan;
  } finally {
    await client.query('deallocate one');
  }
}

it('what is named by its ID is never looked for among all that its project has', async () => {
  const { http, pool } = service;
  let read = 0;
  const texts = await statementsOf(async () => {
    await furnish(http, 1);
    for (const path of [...LISTS, '/cloud/v1/ssh_keys/1', '/cloud/v1/projects']) {
      for (const { id } of (await http.get(path)).body.results) {
        if (id !== undefined) read++;
        await http.get(`${path}/${id}`);
        await http.patch(`${path}/${id}`, { body: { name: 'renamed' } });
        await http.request('DELETE', `${path}/${id}`);
      }
    }
  });
  expect(read).toBeGreaterThan(LISTS.length);
  const { rows } = await pool.query(
    `select indexname as name from pg_indexes where schemaname = 'public' and indexdef ~ 'created_(at|on)'`,
  );
  const byAge = new Set(rows.map(({ name }) => name));
  const client = await pool.connect();
  const walks: string[] = [];
  let planned = 0;
  try {
    await client.query('set plan_cache_mode = force_generic_plan');
    for (const text of texts) {
      if (!/^\s*(select|update|delete|with)\b/i.test(text) || !/\bid"? (=|in|is)/.test(text)) continue;
      planned++;
      for (const { 'Index Name': index = '', 'Index Cond': condition = '' } of nodesOf(await planOf(client, text)))
        if (byAge.has(index) && /\bid = /.test(condition)) walks.push(`${index} ${condition}: ${text}`);
    }
  } finally {
    client.release(true);
  }
  expect(planned).toBeGreaterThan(90);
  expect(walks).toEqual([]);
});
