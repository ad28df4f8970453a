import pg from 'pg';
import { columnsOf } from '../filled/copies.ts';
import { withoutIndexes } from '../filled/load.ts';
import { finished } from '../operations/finished.ts';
import { createApi } from '../support/api.ts';
import type { BenchDatabase } from '../support/database.ts';
import { startProduct, TOKEN } from '../support/product.ts';

/** Besides the account under test and a large one. */
const OTHERS = 20;
/** Rows of the account under test. */
const OWN = 50;
const LARGE = '(select * from places where turn = 1)';
const LARGE_TOKEN_ID = 500;
/** Of the account that has half of all rows. */
export const LARGE_TOKEN = TOKEN.replace(/^1_/, `${LARGE_TOKEN_ID}_`);

/** Makes one thing of each kind, which the rows are copies of, and the accounts that own them. */
export async function prepareTemplate(database: BenchDatabase): Promise<void> {
  const product = await startProduct({ DATABASE_URL: database.url, TRADEWIND_SIMULATION_SPEED: '100000' });
  try {
    const api = createApi(product.port);
    const make = async (path: string, body: object) =>
      finished(api, await api.call('POST', `/cloud/v1/${path}/1/1`, body));
    const rule = {
      direction: 'ingress',
      ethertype: 'IPv4',
      protocol: 'tcp',
      port_range_min: 22,
      port_range_max: 22,
    };
    const security_group = { name: 'template', tags: { team: 'template' }, security_group_rules: [rule] };
    await api.call('POST', '/cloud/v1/securitygroups/1/1', { security_group });
    const { networks: [network_id] = [] } = await make('networks', {
      name: 'template',
      create_router: false,
    });
    const subnet = { name: 'template', network_id, cidr: '10.0.0.0/8', connect_to_network_router: false };
    const { subnets: [subnet_id] = [] } = await make('subnets', subnet);
    await make('reserved_fixed_ips', { type: 'subnet', subnet_id });
    const media = { task_name: 'transcription', url: 'https://media.example.com/template.mp4' };
    await api.call('POST', '/streaming/ai/tasks', media);
    for (let account = 0; account <= OTHERS; account++) {
      await api.call('POST', '/iam/clients/create', { company: `Account ${account}` });
    }
  } finally {
    await product.stop();
  }
}

/** What each row has instead of the template's values, as SQL. */
const PLACE = { project_id: 'place.project_id', region_id: 'place.region_id' };
const TIMES = { created_at: 'at', updated_at: 'at' };
const PER_ROW: [table: string, template: string, columns: Record<string, string>][] = [
  [
    'security_groups',
    `name = 'template'`,
    { id: 'drawn.group_id', name: 'label', tags: `jsonb_build_object('team', label)`, ...PLACE, ...TIMES },
  ],
  [
    'security_group_rules',
    `security_group_id = (select id from security_groups where name = 'template')`,
    { id: 'gen_random_uuid()', security_group_id: 'drawn.group_id', ...TIMES },
  ],
  [
    'ports',
    'true',
    {
      id: 'drawn.port_id',
      name: 'label',
      network_id: 'place.network_id',
      mac_address: `('02' || lpad(to_hex(n + 16777216), 10, '0'))::macaddr`,
      ...PLACE,
      ...TIMES,
    },
  ],
  [
    'ip_assignments',
    'port_id in (select id from ports)',
    { subnet_id: 'place.subnet_id', address: `'10.0.0.0'::inet + 100 + n`, port_id: 'drawn.port_id' },
  ],
  [
    'tasks',
    `state = 'FINISHED'`,
    {
      id: 'drawn.task_id',
      state: `case when unlucky then 'ERROR' else 'FINISHED' end`,
      error: `case when unlucky then 'The infrastructure refused it' end`,
      client_id: 'place.client_id',
      user_client_id: 'place.client_id',
      ...PLACE,
      created_on: 'at',
      updated_on: 'at',
      finished_on: 'at',
    },
  ],
  [
    'ai_tasks',
    'true',
    {
      id: 'drawn.ai_task_id',
      client_id: 'place.client_id',
      status: `case when unlucky then 'FAILURE' else 'SUCCESS' end`,
      progress: '100',
      search_text: `concat_ws(chr(31), drawn.ai_task_id, 'transcription', place.client_id, 'https://media.example.com/' || label || '.mp4')`,
      created_at: 'at',
      started_at: 'at',
      completed_at: 'at',
    },
  ],
];

/** Fills each table with this many rows. */
export async function fillTables(connection: BenchDatabase['connection'], rows: number): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query('set synchronous_commit = off; set jit = off');
    await client.query(`set maintenance_work_mem = '256MB'`);
    await makePlaces(client);
    await client.query(
      `create temporary table drawn as
       select n, 'row-' || lpad(n::text, 7, '0') as label, at, gen_random_uuid() as group_id,
         gen_random_uuid() as port_id, gen_random_uuid() as ai_task_id,
         (substr(time, 1, 8) || '-' || substr(time, 9) || '-7' || substr(gen_random_uuid()::text, 16))::uuid as task_id,
         get_byte(decode(md5(n::text), 'hex'), 0) < 26 as unlucky,
         case when n % 2 = 1 then 1 when n / 2 % ($1 / 2 / ${OWN}) = 0 then 0 else 2 + n / 2 % ${OTHERS} end as turn
       from generate_series(1, $1::int) n
       cross join lateral (select now() - interval '1 hour' - n * interval '20 days' / $1 as at) as made
       cross join lateral (select lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') as time) as begun`,
      [rows],
    );
    await client.query('analyze drawn');
    for (const [table, template, columns] of PER_ROW) {
      await withoutIndexes(client, table, () =>
        copyRow(client, table, template, columns, 'drawn join places as place using (turn)'),
      );
    }
    await client.query('vacuum (analyze)');
  } finally {
    await client.end();
  }
}

/** Each account's project with a network for its ports. */
async function makePlaces(client: pg.Client): Promise<void> {
  await client.query(
    `create temporary table places as
     select row_number() over (order by id) - 1 as turn, client_id, id as project_id, 1 as region_id,
       gen_random_uuid() as network_id, gen_random_uuid() as subnet_id
     from projects order by id`,
  );
  for (const [table, template, columns, from] of [
    ['networks', `name = 'template'`, { id: 'place.network_id', ...PLACE }, 'places'],
    ['subnets', `name = 'template'`, { id: 'place.subnet_id', network_id: 'place.network_id' }, 'places'],
    // The same user and secret, in the large account.
    ['client_users', 'client_id = 1', { client_id: 'place.client_id' }, LARGE],
    ['api_tokens', 'id = 1', { id: String(LARGE_TOKEN_ID), client_id: 'place.client_id', bootstrap: 'false' }, LARGE],
  ] as const) {
    await copyRow(client, table, template, columns, `${from} as place`);
  }
}

async function copyRow(
  client: pg.Client,
  table: string,
  template: string,
  columns: Record<string, string>,
  from: string,
): Promise<void> {
  const names = await columnsOf(client, table);
  const values = names.map((name) => columns[name] ?? `template.${name}`);
  await client.query(`alter table ${table} disable trigger user`);
  await client.query(
    `insert into ${table} (${names.join(', ')})
     select ${values.join(', ')} from ${from} cross join (select * from ${table} where ${template} limit 1) as template`,
  );
  await client.query(`alter table ${table} enable trigger user`);
}
