import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { furnish } from '../support/furnishing.ts';
import { createPossessions } from '../support/possessions.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let database: string;
beforeAll(async () => {
  service = await startService();
  database = (await service.pool.query('select current_database() as name')).rows[0].name;
});
afterAll(() => service.stop());

/** Lists, and the field with the ID. */
const LISTS: [path: string, field: string][] = [
  ...[
    ...'file_shares floatingips images instances lblisteners lbpools loadbalancers networks ports routers'.split(' '),
    ...'secrets securitygroups snapshots subnets volumes'.split(' '),
  ].map((kind): [string, string] => [`/cloud/v1/${kind}/1/1`, 'id']),
  ['/cloud/v1/servergroups/1/1', 'servergroup_id'],
  ['/cloud/v1/reserved_fixed_ips/1/1', 'port_id'],
  ['/cloud/v1/ssh_keys/1', 'id'],
  ['/cloud/v1/projects', 'id'],
];
/** These have no IDs, so they must not be kept from being found by their names. */
const NAMED = ['/cloud/v2/k8s/clusters/1/1/demo', '/cloud/v2/k8s/clusters/1/1/demo/pools/gpu'];

/** Returns each statement that the service sends to PostgreSQL meanwhile. */
async function statementsOf(work: () => Promise<void>): Promise<Set<string>> {
  const texts = new Set<string>();
  const clients = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const { query } = clients;
  clients.query = function (this: { database?: string }, config, ...rest) {
    const text = typeof config === 'string' ? config : (config as { text?: string } | undefined)?.text;
    if (this.database === database && text !== undefined) texts.add(text);
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
  Filter?: string;
  Plans?: Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Returns the plan that is kept for all values. */
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

/** The ID of a thing, not of whom it belongs to. */
const OF_A_THING = /\b(?!client_|project_|region_)(?:\w+_)?id = (?:ANY \()?\$/;

/** What is not to happen: a lookup as it was once. */
const WALKING = 'select * from volumes where project_id = $1 and region_id = $2 and id = $3';

/** Returns the statements that look for an ID in an index of what a project or an account has, or find what is only checked without one. */
async function walksOf(client: pg.PoolClient, texts: Iterable<string>): Promise<string[]> {
  const { rows } = await client.query(
    `select indexname as name from pg_indexes
     where schemaname = 'public' and indexdef ~ '\\((project_id|client_id)' and indexdef !~ '\\((project_id|client_id), id\\)'`,
  );
  const ofOwners = new Set(rows.map(({ name }) => name));
  const found: string[] = [];
  for (const text of texts) {
    if (!/^\s*(select|update|delete|with)\b/i.test(text)) continue;
    const nodes = nodesOf(await planOf(client, text));
    const walks = nodes.some(({ 'Index Name': index = '', 'Index Cond': condition, Filter: filter }) => {
      return ofOwners.has(index) && /\bid = (ANY \()?\$/.test(`${condition} ${filter}`);
    });
    const isLost =
      nodes.some(({ Filter: filter = '' }) => filter.includes(' IS TRUE')) &&
      !nodes.some(({ 'Index Cond': condition = '' }) => OF_A_THING.test(condition));
    if (walks || isLost) found.push(text);
  }
  return found;
}

it('what is named by its ID is never looked for among all that its project has', async () => {
  const { http, pool } = service;
  const texts = await statementsOf(async () => {
    await furnish(http, 1);
    // It leaves these out.
    await createPossessions(http).make('listener_id', 'pool_id');
    const all = [...NAMED];
    for (const [path, field] of LISTS) {
      const { results } = (await http.get(path)).body;
      expect(results.length, path).toBeGreaterThan(0);
      all.push(...results.map((one: Record<string, string>) => `${path}/${one[field]}`));
    }
    for (const one of all) expect((await http.get(one)).status, one).toBe(200);
    // Some are refused, after they were looked for.
    for (const one of all) await http.patch(one, { body: { name: 'renamed' } });
    for (const one of all.toReversed()) await http.request('DELETE', one);
  });
  const client = await pool.connect();
  try {
    await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off');
    expect(await walksOf(client, [...texts, WALKING])).toEqual([WALKING]);
  } finally {
    client.release(true);
  }
});
