import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { TASKS } from '../../src/cloud/ground/tasks/store.ts';
import { USER_ACTIONS } from '../../src/cloud/ground/user-actions/store.ts';
import { keepQuarters, type QuarterlyTable } from '../../src/db/quarters.ts';
import type { BenchDatabase } from '../support/database.ts';
import { percentile } from '../support/statistics.ts';
import { markdownTable, shown } from '../support/table.ts';
import type { TimedApi } from './requests.ts';

const TARGET_MS = 1_000;
/** So that two quarters or three of each table are older. */
const KEPT_DAYS = 200;

/** Requests before the first drop. */
const STARTED_MS = 3_000;

/** Drops old quarters while one client creates and another polls and lists, as fast as they get answers. */
export async function measureDrops(database: BenchDatabase, api: TimedApi): Promise<string> {
  const pool = new pg.Pool({ ...database.connection, max: 1 });
  const rows: string[][] = [];
  try {
    for (const table of [TASKS, USER_ACTIONS]) {
      const before = await sizesOf(pool, table);
      const times: number[] = [];
      let over = false;
      const clients = [creates, reads].map(async (client) => {
        for (let n = 0; !over; n++) times.push(...(await client(api, `drop-${table.name}-${n}`)));
      });
      await sleep(STARTED_MS);
      const now = new Date();
      const end = new Date(now.getTime() - KEPT_DAYS * 86_400_000);
      const kept = await keepQuarters({ pool }, table, { now, before: end });
      over = true;
      await Promise.all(clients);
      for (const { quarter, tookMs } of kept?.dropped ?? []) {
        const missed = tookMs > TARGET_MS ? 'MISSED ' : '';
        rows.push([quarter, before.get(quarter) ?? '', `${missed}${tookMs}`, '', '']);
      }
      rows.push([`requests meanwhile`, String(times.length), '', ...[0.95, 1].map((p) => shown(percentile(times, p)))]);
    }
  } finally {
    await pool.end();
  }
  const header = ['', 'rows', 'dropped in ms', 'p95 ms', 'slowest'];
  return `\n\n${markdownTable(header, rows)}\n\nA quarter is to be dropped in ${TARGET_MS} ms.`;
}

async function sizesOf(pool: pg.Pool, { name }: QuarterlyTable): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ quarter: string; amount: string }>(
    `select relname as quarter, reltuples::bigint::text as amount from pg_class where relname like $1 and relkind = 'r'`,
    [`${name}_%`],
  );
  return new Map(rows.map(({ quarter, amount }) => [quarter, amount]));
}

async function creates(api: TimedApi, name: string): Promise<number[]> {
  const made = await api.call('POST', '/cloud/v1/volumes/1/1', { name, source: 'new-volume', size: 1 });
  const polled = await api.ended(made.body);
  const gone = await api.call('DELETE', `/cloud/v1/volumes/1/1/${polled.created.volumes[0]}`);
  await api.ended(gone.body);
  return [made.ms, gone.ms];
}

async function reads(api: TimedApi): Promise<number[]> {
  const list = await api.call('GET', '/cloud/v1/tasks');
  const task = await api.call('GET', `/v1/tasks/${list.body.results[0].id}`);
  const log = await api.call('GET', '/cloud/v1/user_actions');
  return [list.ms, task.ms, log.ms];
}
