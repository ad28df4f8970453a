import pg from 'pg';
import { openDatabase } from '../../src/db/database.ts';
import { insertAccount } from '../../src/iam/new-accounts/in-transaction.ts';
import { createTokenFor } from '../../src/iam/tokens/operator-token.ts';
import { systemClock } from '../../src/lib/time.ts';
import { columnsOf } from '../filled/copies.ts';
import { withoutIndexes } from '../filled/load.ts';
import { finished } from '../operations/finished.ts';
import { createApi } from '../support/api.ts';
import type { BenchDatabase } from '../support/database.ts';
import { startProduct } from '../support/product.ts';

/** How many accounts there are, and how many resources and tasks they have together. */
export interface Amounts {
  accounts: number;
  resources: number;
  tasks: number;
}

/** The share of a kind in all resources, in percent. Each project has a network and a group in each of three regions. */
const SHARES = {
  networks: 30,
  security_groups: 30,
  volumes: 15,
  ports: 10,
  instances: 5,
  subnets: 5,
  floating_ips: 5,
};
/** Of one reseller's accounts, and of a small one's. */
export const LARGE_SHARE = 0.3;
export const SMALL = 200;

export interface Resellers {
  large: string;
  small: string;
}

/** Returns tokens of the resellers. */
export async function fill(database: BenchDatabase, amounts: Amounts): Promise<Resellers> {
  await makeTemplates(database);
  const resellers = await makeResellers(database);
  const client = new pg.Client(database.connection);
  await client.connect();
  try {
    await client.query('set synchronous_commit = off; set jit = off');
    await client.query(`set maintenance_work_mem = '256MB'`);
    await makeAccounts(client, amounts.accounts, resellers.ids);
    for (const [table, template, columns, rows] of tablesOf(amounts)) {
      process.stderr.write(`${rows} ${table} ...\n`);
      await withoutIndexes(client, table, () => copyRows(client, { table, template, columns, rows }));
    }
    await client.query('vacuum (analyze)');
  } finally {
    await client.end();
  }
  return resellers.tokens;
}

/** One thing of each kind, which the rows are copies of. */
async function makeTemplates(database: BenchDatabase): Promise<void> {
  const product = await startProduct({
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: database.folder,
    TRADEWIND_SIMULATION_SPEED: '100000',
  });
  try {
    const api = createApi(product.port);
    const make = async (path: string, body: object) =>
      finished(api, await api.call('POST', `/cloud/${path}/1/1`, body));
    await api.call('POST', '/cloud/v1/securitygroups/1/1', { security_group: { name: 'template' } });
    const { networks: [network_id] = [] } = await make('v1/networks', { name: 'template', create_router: false });
    const subnet = { name: 'template', network_id, cidr: '10.0.0.0/8', connect_to_network_router: false };
    await make('v1/subnets', subnet);
    await make('v1/floatingips', {});
    await make('v2/instances', {
      name: 'template',
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'external' }],
      volumes: [{ source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f' }],
    });
  } finally {
    await product.stop();
  }
}

async function makeResellers({ connection }: BenchDatabase) {
  const database = openDatabase(connection, 2);
  const make = async (name: string) => {
    const now = systemClock.now();
    const { id } = await database.sql
      .insertInto('resellers')
      .values({ name, created_at: now })
      .returning('id')
      .executeTakeFirstOrThrow();
    const administrator = { email: `admin@${name}.invalid`, platform_administrator: false };
    const { clientId } = await insertAccount(database.sql, { company: name, resellerId: id, administrator, now });
    const { token } = await createTokenFor(
      { database, clock: systemClock },
      { clientId, resellerAccess: true, role: 'Administrators', name, expires: null },
    );
    return { id, token };
  };
  try {
    const [large, small] = [await make('large'), await make('small')];
    return { tokens: { large: large.token, small: small.token }, ids: { large: large.id, small: small.id } };
  } finally {
    await database.close();
  }
}

/** Each with a project and a user. Leaves them in a temporary table. */
async function makeAccounts(client: pg.Client, accounts: number, ids: { large: number; small: number }): Promise<void> {
  await client.query(
    `create temporary table places as
     select n as number, n + 1000 as client_id, n + 1000 as project_id, n + 1000 as user_id, 1 + n % 2 as region_id,
       now() - n * interval '5 minutes' as at, gen_random_uuid() as network_id,
       case when n <= $2 then $4::bigint when n <= $2 + $3::int * ${LARGE_SHARE} then $5 else 1 end as reseller_id
     from generate_series(1, $1::int) n`,
    [accounts, SMALL, accounts, ids.small, ids.large],
  );
  await client.query(`
    insert into clients (id, company, email, reseller_id, created_at)
      select client_id, 'Company ' || number, 'owner-' || number || '@example.com', reseller_id, at from places;
    insert into projects (id, client_id, name, is_default, created_at)
      select project_id, client_id, 'default', true, at from places;
    alter table users disable trigger user;
    insert into users (id, client_id, email, platform_administrator, created_at)
      select user_id, client_id, 'owner-' || number || '@example.com', false, at from places;
    alter table users enable trigger user;
    insert into client_users (client_id, user_id, role_id, created_at) select client_id, user_id, 1, at from places;
    create index on places (number);
    analyze places;`);
  for (const table of ['clients', 'projects', 'users']) {
    await client.query(`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`);
  }
}

type Filled = [table: string, template: string, columns: Record<string, string>, rows: number];

/** What rows have instead of the template's values, as SQL: `n` is the number of the row, `place` its account. */
function tablesOf({ resources, tasks, accounts }: Amounts): Filled[] {
  const share = (table: keyof typeof SHARES) => Math.floor((resources * SHARES[table]) / 100);
  const at = `'${new Date(Date.now() - 3_600_000).toISOString()}'::timestamptz - n * interval '30 seconds'`;
  const id = (kind: string) => `md5('${kind}' || n)::uuid`;
  const row = (kind: string): Record<string, string> => ({
    id: id(kind),
    name: `'${kind}-' || n`,
    project_id: 'place.project_id',
    region_id: 'place.region_id',
    created_at: at,
    updated_at: at,
    tags: `'{}'`,
  });
  const inEach = { region_id: `1 + (n - 1) / ${accounts}`, is_default: 'true' };
  const time = `lpad(to_hex(floor(extract(epoch from ${at}) * 1000)::bigint), 12, '0')`;
  const taskId = `(substr(${time}, 1, 8) || '-' || substr(${time}, 9) || '-7' || substr(md5('task' || n), 14, 3) || '-a' || substr(md5('task' || n), 18, 3) || '-' || substr(md5('task' || n), 21, 12))::uuid`;
  const unlucky = 'n % 50 = 7';
  const address = `'10.0.0.0'::inet + 100 + n`;
  return [
    ['networks', `name = 'template'`, { ...row('net'), ...inEach }, share('networks')],
    ['subnets', `name = 'template'`, { ...row('sub'), network_id: id('net') }, share('subnets')],
    ['security_groups', `name = 'template'`, { ...row('group'), ...inEach }, share('security_groups')],
    [
      'instances',
      `name = 'template'`,
      { ...row('web'), status: `case when ${unlucky} then 'ERROR' else 'ACTIVE' end` },
      share('instances'),
    ],
    ['volumes', 'true', row('vol'), share('volumes')],
    [
      'ports',
      'instance_id is not null',
      {
        ...row('port'),
        network_id: `md5('net' || 1 + n % ${share('networks')})::uuid`,
        instance_id: `md5('web' || 1 + n % ${share('instances')})::uuid`,
        '"position"': `n / ${share('instances')}`,
        mac_address: `('02' || lpad(to_hex(n + 16777216), 10, '0'))::macaddr`,
      },
      share('ports'),
    ],
    [
      'ip_assignments',
      'port_id is not null',
      { subnet_id: `md5('sub' || 1 + n % ${share('subnets')})::uuid`, address, port_id: id('port') },
      share('ports'),
    ],
    [
      'floating_ips',
      'true',
      { ...row('floating'), address: `'100.64.0.0'::inet + n`, port_id: 'null', fixed_address: 'null' },
      share('floating_ips'),
    ],
    [
      'usage_periods',
      `type = 'floatingip'`,
      {
        resource_id: id('floating'),
        client_id: 'place.client_id',
        project_id: 'place.project_id',
        region_id: 'place.region_id',
        details: `jsonb_build_object('ip_address', host('100.64.0.0'::inet + n))`,
      },
      share('floating_ips'),
    ],
    [
      'tasks',
      `state = 'FINISHED'`,
      {
        id: taskId,
        task_type: `'create_volume'`,
        state: `case when ${unlucky} then 'ERROR' else 'FINISHED' end`,
        error: `case when ${unlucky} then 'The infrastructure refused it: shelf ' || n || ' is full' end`,
        client_id: 'place.client_id',
        user_client_id: 'place.client_id',
        project_id: 'place.project_id',
        region_id: 'place.region_id',
        request_id: `md5('request' || n)::uuid::text`,
        created_on: at,
        updated_on: at,
        finished_on: at,
        deadline_at: at,
      },
      tasks,
    ],
    [
      'user_actions',
      'resource_ids is not null and api_group is not null',
      {
        client_id: 'place.client_id',
        user_id: 'place.user_id',
        project_id: 'place.project_id',
        region_id: 'place.region_id',
        request_id: `md5('request' || n)::uuid::text`,
        task_id: taskId,
        resource_types: `array['volume']`,
        resource_ids: `array[md5('vol' || n)::uuid::text]`,
        resource_names: `array['vol-' || n]`,
        subject: `'volume/' || md5('vol' || n)::uuid`,
        '"timestamp"': at,
      },
      tasks,
    ],
  ].map(([table, template, columns, rows]) => [
    table,
    template,
    columns,
    Math.max(Number(rows), Math.min(accounts, 100)),
  ]) as Filled[];
}

async function copyRows(
  client: pg.Client,
  {
    table,
    template,
    columns,
    rows,
  }: { table: string; template: string; columns: Record<string, string>; rows: number },
): Promise<void> {
  const names = (await columnsOf(client, table)).filter(
    (name) => !(name === 'id' && ['usage_periods', 'user_actions'].includes(table)),
  );
  const values = names.map((name) => columns[name] ?? `template.${name}`);
  await client.query(
    `insert into ${table} (${names.join(', ')})
     select ${values.join(', ')}
     from generate_series(1, $1::int) as n
       join places as place on place.number = 1 + (n - 1) % (select count(*) from places)
       cross join (select * from ${table} where ${template} limit 1) as template`,
    [rows],
  );
}
