import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type BenchDatabase, startDatabase } from '../support/database.ts';
import { startProduct, TOKEN } from '../support/product.ts';
import { percentile } from '../support/statistics.ts';
import { markdownTable, shown } from '../support/table.ts';
import { type Amounts, fill, LARGE_SHARE, type Resellers, SMALL } from './fill.ts';

const THOROUGH: Amounts = { accounts: 100_000, resources: 1_000_000, tasks: 1_000_000 };
const QUICK: Amounts = { accounts: 10_000, resources: 100_000, tasks: 100_000 };
const CALLS = { thorough: 100, quick: 30 };
/** Changes in a second, while others look things up. */
const WRITES = 50;
const TARGET_MS = 200;
const STARTED_MS = 10_000;

/** Looks things up across accounts while others make changes. */
export async function measureLookup({ quick, only = '' }: { quick: boolean; only?: string }): Promise<string> {
  const amounts = quick ? QUICK : THOROUGH;
  const database = await startDatabase();
  try {
    const begun = performance.now();
    const resellers = await fill(database, amounts);
    const loading = (performance.now() - begun) / 1_000;
    const table = await measureOn(database, { resellers, amounts, only, calls: quick ? CALLS.quick : CALLS.thorough });
    return `${Object.entries(amounts)
      .map(([kind, amount]) => `${amount.toLocaleString('en-US')} ${kind}`)
      .join(
        ', ',
      )}. The large reseller has ${LARGE_SHARE * 100} % of the accounts, the small one ${SMALL}. Loading took ${shown(loading)} s.\n\n${table}`;
  } finally {
    await database.stop();
  }
}

async function measureOn(
  database: BenchDatabase,
  { resellers, amounts, only, calls }: { resellers: Resellers; amounts: Amounts; only: string; calls: number },
): Promise<string> {
  const product = await startProduct({
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: database.folder,
    TRADEWIND_SIMULATION_SPEED: '100000',
  });
  const rows: string[][] = [];
  try {
    const drawn = await drawRows(database, calls);
    // Time for a start to compare everything that is wanted with what exists.
    await sleep(STARTED_MS);
    const writing = startWriting(product.port, amounts.accounts);
    try {
      for (const [who, token] of Object.entries({ platform: TOKEN, ...resellers })) {
        for (const { name, path } of LOOKUPS.filter((one) => `${who}: ${one.name}`.includes(only))) {
          const times = await timesOf(product.port, token, drawn[who as keyof typeof drawn].map(path));
          const [p50, p95, slowest] = [0.5, 0.95, 1].map((share) => percentile(times, share)) as [
            number,
            number,
            number,
          ];
          const missed = p95 > TARGET_MS ? 'MISSED ' : '';
          rows.push([`${who}: ${name}`, shown(p50), `${missed}${shown(p95)}`, shown(slowest)]);
          process.stderr.write(`${rows.at(-1)?.join(' ')}\n`);
        }
      }
    } finally {
      await writing.stop();
    }
    const beside = `Beside: ${shown(writing.perSecond())} changes a second, p95 ${shown(percentile(writing.times, 0.95))} ms, ${writing.failed()} failed.`;
    return `${markdownTable(['', 'p50 ms', 'p95 ms', 'slowest'], rows)}\n\nThe target at p95 is ${TARGET_MS} ms. ${beside}`;
  } finally {
    await product.stop();
  }
}

interface Drawn {
  n: number;
  volume: string;
  task: string;
  request: string;
  client_id: number;
  project_id: number;
}

/** Things of the accounts that each of them manages. */
async function drawRows({ connection }: BenchDatabase, calls: number) {
  const client = new pg.Client(connection);
  await client.connect();
  const draw = async (reseller: string) => {
    const { rows } = await client.query<Drawn>(
      `select (regexp_replace(volumes.name, '\\D', '', 'g'))::int as n, volumes.id as volume, task.id as task,
         task.request_id as request, projects.client_id::int, projects.id::int as project_id
       from clients join projects on projects.client_id = clients.id join volumes on volumes.project_id = projects.id
         cross join lateral (select * from tasks where tasks.client_id = clients.id order by random() limit 1) as task
       where clients.reseller_id = coalesce((select id from resellers where name = $1), 1) and volumes.name like 'vol-%'
         and clients.id % 7 = 3
       limit $2`,
      [reseller, calls],
    );
    return rows;
  };
  try {
    return { platform: await draw(''), large: await draw('large'), small: await draw('small') };
  } finally {
    await client.end();
  }
}

const LOOKUPS: { name: string; path(drawn: Drawn): string }[] = [
  { name: 'tasks', path: () => 'tasks' },
  { name: 'tasks that have not ended', path: () => 'tasks?state=NEW&state=RUNNING' },
  { name: 'failed tasks', path: () => 'tasks?state=ERROR' },
  { name: 'failed tasks by error', path: ({ n }) => `tasks?error=shelf+${n % 10}` },
  { name: 'failed tasks by an error that none has', path: () => 'tasks?error=nothing' },
  { name: 'tasks of a type that none has', path: () => 'tasks?task_type=create_vm' },
  { name: 'tasks of an account', path: ({ client_id }) => `tasks?client_id=${client_id}` },
  { name: 'tasks of a project that failed', path: ({ project_id }) => `tasks?project_id=${project_id}&state=ERROR` },
  { name: 'tasks in a region at a time', path: ({ n }) => `tasks?region_id=1&to=${longAgo(n)}` },
  { name: 'tasks of a volume', path: ({ volume }) => `tasks?resource_id=${volume}` },
  { name: 'resources', path: () => 'resources' },
  { name: 'instances', path: () => 'resources?kind=instance' },
  { name: 'instances in ERROR', path: () => 'resources?kind=instance&state=ERROR' },
  { name: 'resources of an account', path: ({ client_id }) => `resources?client_id=${client_id}` },
  { name: 'resources in a region at a time', path: ({ n }) => `resources?region_id=2&to=${longAgo(n)}` },
  {
    name: 'volumes in a state that none has',
    path: () => 'resources?kind=volume&state=in-use&state=nothing&region_id=9',
  },
  { name: 'resources by name', path: ({ n }) => `resources?name=vol-${n}` },
  { name: 'resources by a beginning', path: ({ n }) => `resources?name=vol-${n % 100}*` },
  { name: 'resources by address', path: ({ n }) => `resources?address=${privateAddress(n)}` },
  { name: 'search an ID', path: ({ volume }) => `search?q=${volume}` },
  { name: 'search a task', path: ({ task }) => `search?q=${task}` },
  { name: 'search a request', path: ({ request }) => `search?q=${request}` },
  { name: 'search an address', path: ({ n }) => `search?q=100.64.${Math.floor((n % 50_000) / 256)}.${n % 256}` },
  { name: 'search a name', path: ({ n }) => `search?q=vol-${n}` },
  { name: 'search a beginning', path: () => 'search?q=vo' },
  { name: 'search a letter', path: () => 'search?q=w' },
  { name: 'search nothing', path: ({ n }) => `search?q=nothing-${n}` },
  { name: 'search an e-mail', path: ({ n }) => `search?q=owner-${n % 1_000}` },
  { name: 'search a company', path: ({ n }) => `search?q=company%20${n % 1_000}` },
  { name: 'search a number', path: ({ client_id }) => `search?q=${client_id}` },
];

const longAgo = (n: number) => new Date(Date.now() - 3_600_000 - (n % 100_000) * 30_000).toISOString();

function privateAddress(n: number): string {
  const number = 100 + (n % 100_000);
  return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
}

/** One at a time; the first calls warm up. */
async function timesOf(port: number, token: string, paths: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  const headers = { authorization: `apikey ${token}` };
  for (const path of [...paths.slice(0, 3), ...paths]) {
    const begun = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/tradewind/v1/${path}`, { headers });
    const text = await answer.text();
    times.push(performance.now() - begun);
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 300)}`);
  }
  return times.slice(3);
}

/** Makes security groups and volumes in one project after the other, as often as is asked for. */
function startWriting(port: number, accounts: number) {
  const headers = { authorization: `apikey ${TOKEN}`, 'content-type': 'application/json' };
  const times: number[] = [];
  const begun = performance.now();
  let failed = 0;
  let n = 0;
  let ended: number | undefined;
  async function write(number: number): Promise<void> {
    const project = 1_001 + ((number * 997) % accounts);
    const [path, body] =
      number % 2 === 0
        ? ['securitygroups', { security_group: { name: `written ${number}` } }]
        : ['volumes', { name: `written ${number}`, source: 'new-volume', size: 1 }];
    const sent = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/cloud/v1/${path}/${project}/1`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    await answer.text();
    if (!answer.ok) failed++;
    times.push(performance.now() - sent);
  }
  const timer = setInterval(() => void write(n++).catch(() => failed++), 1_000 / WRITES);
  return {
    times,
    failed: () => failed,
    perSecond: () => times.length / (((ended ?? performance.now()) - begun) / 1_000),
    async stop() {
      clearInterval(timer);
      ended = performance.now();
      await sleep(1_000);
    },
  };
}
