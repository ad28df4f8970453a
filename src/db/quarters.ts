import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Database } from './database.ts';

/**
 * A table that is cut into quarters of a year. The default partition holds rows from before it was cut, and those of
 * a quarter that nobody made in time. Months would be too many: PostgreSQL plans every list over all partitions, which
 * for sixteen of them takes longer than the list itself.
 */
export interface QuarterlyTable {
  name: string;
  /** It grows with time, and decides on the quarter. */
  column: string;
  /** The least value of the column from that moment on, as SQL has it. */
  from(moment: Date): string;
  /** When a row was made. */
  time: string;
  /** Of a row, whether it has not ended. Rows that have never begin again. */
  open?: string;
  /** Of a row, whether it may be forgotten once it is old. */
  isOver: string;
  /** Whether a quarter has a row that isn't over, looked for in indexes. */
  goesOn(quarter: string): string;
}

export interface Keeping {
  now: Date;
  /** Undefined: for ever. */
  keptDays: number | undefined;
}

export interface Kept {
  made: string[];
  dropped: { quarter: string; tookMs: number }[];
  /** Old, with something that goes on. */
  held: string[];
}

const DAY_MS = 86_400_000;
/** The next quarter is made in the month before it: lists look into each that is there. */
const EARLIEST_MS = 31 * DAY_MS;
/** A quarter that begins sooner isn't made any more: its rows may come while it is. */
const SOONEST_MS = DAY_MS;
/** After the end of a quarter, new rows may come for so long: clocks differ. */
const SETTLED_MS = DAY_MS;
/** Whoever asks for a lock of the whole table has all others wait behind it. */
const LOCK_TIMEOUT = '200ms';
const ATTEMPTS = 60;
const PAUSE_MS = 100;
const LOCK_NOT_AVAILABLE = '55P03';
const CHECK_VIOLATION = '23514';
/** Of the default partition, looked through at once. */
const PAGES = 4_096;

/** Makes the next quarter of a table and drops those that are old enough, unless another process is doing so. */
export async function keepQuarters(
  { pool }: Pick<Database, 'pool'>,
  table: QuarterlyTable,
  { now, keptDays }: Keeping,
): Promise<Kept | undefined> {
  const client = await pool.connect();
  const lock = `hashtextextended('tradewind quarters of ${table.name}', 0)`;
  let broken: Error | undefined;
  try {
    const { rows } = await client.query(`select pg_try_advisory_lock(${lock}) as got`);
    if (!rows[0].got) return undefined;
    // A large default partition takes its time to be looked through.
    await client.query('set statement_timeout = 0');
    await clearInterrupted(client, table);
    // What is never dropped needs no quarters, and each makes every list a little slower.
    if (keptDays === undefined) return { made: [], dropped: [], held: [] };
    const made = await makeAhead(client, table, now);
    await closeEnded(client, table, now);
    const before = new Date(now.getTime() - keptDays * DAY_MS);
    await forgetRows(client, table, before);
    return { made, ...(await dropBefore(client, table, before)) };
  } catch (error) {
    broken = error as Error;
    throw error;
  } finally {
    if (!broken) {
      await client.query('reset statement_timeout');
      await client.query(`select pg_advisory_unlock(${lock})`);
    }
    // The lock goes with a connection that something went wrong on.
    client.release(broken);
  }
}

interface Quarter {
  name: string;
  start: Date;
  end: Date;
}

/** The quarter of that moment, or of so many later, in UTC. */
function quarterOf({ name }: QuarterlyTable, moment: Date, later = 0): Quarter {
  const number = Math.floor(moment.getUTCMonth() / 3) + later;
  const start = new Date(Date.UTC(moment.getUTCFullYear(), number * 3));
  const end = new Date(Date.UTC(moment.getUTCFullYear(), number * 3 + 3));
  return { name: `${name}_${start.getUTCFullYear()}_q${start.getUTCMonth() / 3 + 1}`, start, end };
}

interface KnownQuarter extends Quarter {
  attached: boolean;
  /** Of the constraint that says so: whether it is proven; null without one. */
  closed: boolean | null;
}

/** The partitions that are quarters, attached or not. */
async function quartersOf(client: pg.PoolClient, table: QuarterlyTable): Promise<KnownQuarter[]> {
  const { rows } = await client.query<Pick<KnownQuarter, 'name' | 'attached' | 'closed'>>(
    `select relname as name, exists (select from pg_inherits where inhrelid = pg_class.oid) as attached,
       (select convalidated from pg_constraint where conrelid = pg_class.oid and conname = relname || '_closed') as closed
     from pg_class where relkind = 'r' and relname ~ $1
       and relnamespace = (select relnamespace from pg_class where oid = $2::regclass)
     order by relname`,
    [`^${table.name}_[0-9]{4}_q[1-4]$`, table.name],
  );
  return rows.map((row) => {
    const [year, quarter] = row.name.slice(-7).split('_q').map(Number) as [number, number];
    return { ...quarterOf(table, new Date(Date.UTC(year, quarter * 3 - 3))), ...row };
  });
}

/** What a process left that was killed at it. A table that isn't attached has nothing that is still wanted. */
async function clearInterrupted(client: pg.PoolClient, table: QuarterlyTable): Promise<void> {
  for (const { name, attached } of await quartersOf(client, table)) {
    if (!attached) await client.query(`drop table ${name}`);
  }
  const { rows } = await client.query<{ name: string }>(
    `select conname as name from pg_constraint where conrelid = '${table.name}_default'::regclass and conname ~ '_elsewhere$'`,
  );
  for (const { name } of rows) {
    await alone(client, () => client.query(`alter table ${table.name}_default drop constraint ${name}`));
  }
}

async function makeAhead(client: pg.PoolClient, table: QuarterlyTable, now: Date): Promise<string[]> {
  const next = quarterOf(table, now, 1);
  const begins = next.start.getTime() - now.getTime();
  if (begins < SOONEST_MS || begins > EARLIEST_MS) return [];
  if ((await quartersOf(client, table)).some(({ name }) => name === next.name)) return [];
  if (!(await makeQuarter(client, table, next))) return [];
  // Nothing else looks at the whole of a partitioned table.
  await client.query(`analyze ${table.name}`);
  return [next.name];
}

/**
 * PostgreSQL scans the default partition for rows of a new one under an exclusive lock, unless a constraint says that
 * there are none. The constraint is validated while requests go on. Returns false while a row that would have to move
 * is still in use.
 */
async function makeQuarter(client: pg.PoolClient, table: QuarterlyTable, quarter: Quarter): Promise<boolean> {
  const { name, column } = table;
  const rest = `${name}_default`;
  const elsewhere = `${quarter.name}_elsewhere`;
  const [from, to] = [table.from(quarter.start), table.from(quarter.end)];
  const strays = `from ${rest} where ${column} >= ${from} and ${column} < ${to}`;
  const { rows } = await client.query(`select ${table.goesOn(`(select * ${strays})`)} as goes_on`);
  if (rows[0].goes_on) return false;
  await alone(client, async () => {
    await client.query(`create table ${quarter.name} (like ${rest} including all)`);
    await client.query(
      `alter table ${rest} add constraint ${elsewhere} check (${column} < ${from} or ${column} >= ${to}) not valid`,
    );
  });
  await alone(client, async () => {
    // Random ids of old tasks may be anywhere.
    await client.query(
      `with strays as (delete ${strays} returning *) insert into ${quarter.name} select * from strays`,
    );
    await client.query(`alter table ${rest} validate constraint ${elsewhere}`);
    await client.query(
      `alter table ${name} attach partition ${quarter.name} for values from (${from}) to (${to})`,
    );
    await client.query(`alter table ${rest} drop constraint ${elsewhere}`);
  });
  return true;
}

/**
 * Says by a constraint that the rows of an ended quarter have ended too and when the last one was made. PostgreSQL then
 * doesn't even plan to look there for running tasks or for those since yesterday.
 */
async function closeEnded(client: pg.PoolClient, table: QuarterlyTable, now: Date): Promise<void> {
  const { open, time } = table;
  if (open === undefined) return;
  for (const { name, end, attached, closed } of await quartersOf(client, table)) {
    const settled = new Date(end.getTime() + SETTLED_MS);
    if (!attached || settled > now || closed) continue;
    const left = await client.query(`select from ${name} where ${open} limit 1`);
    if (left.rows.length > 0) continue;
    if (closed === null)
      await alone(client, () =>
        client.query(
          `alter table ${name} add constraint ${name}_closed
             check (not (${open}) and ${time} < '${settled.toISOString()}') not valid`,
        ),
      );
    await client.query(`alter table ${name} validate constraint ${name}_closed`).catch(async (error) => {
      if (!(error instanceof pg.DatabaseError && error.code === CHECK_VIOLATION)) throw error;
      // A clock was wrong. The quarter stays open, and its lists a little slower.
      await alone(client, () => client.query(`alter table ${name} drop constraint ${name}_closed`));
    });
  }
}

/**
 * DETACH ... CONCURRENTLY doesn't work with a default partition. The exclusive lock is held for a moment, and waited
 * for only briefly; the files are removed after it.
 */
async function dropBefore(
  client: pg.PoolClient,
  table: QuarterlyTable,
  before: Date,
): Promise<Pick<Kept, 'dropped' | 'held'>> {
  const old = (await quartersOf(client, table)).filter(({ end }) => end <= before);
  const dropped: Kept['dropped'] = [];
  const held: string[] = [];
  for (const { name: quarter } of old) {
    const { rows } = await client.query(`select ${table.goesOn(quarter)} as goes_on`);
    if (rows[0].goes_on) {
      held.push(quarter);
      continue;
    }
    const begun = performance.now();
    await alone(client, async () => {
      await client.query(`alter table ${table.name} detach partition ${quarter}`);
      // Else dropping it would lock the tables that it refers to.
      await dropReferences(client, quarter);
    });
    await client.query(`drop table ${quarter}`);
    dropped.push({ quarter, tookMs: Math.round(performance.now() - begun) });
  }
  return { dropped, held };
}

async function dropReferences(client: pg.PoolClient, table: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select conname as name from pg_constraint where conrelid = '${table}'::regclass and contype = 'f'`,
  );
  for (const { name } of rows) await client.query(`alter table ${table} drop constraint ${name}`);
}

/** In the default partition quarters lie together. */
async function forgetRows(client: pg.PoolClient, table: QuarterlyTable, before: Date): Promise<void> {
  const rest = `${table.name}_default`;
  const { rows } = await client.query(
    `select pg_relation_size($1) / current_setting('block_size')::bigint as pages`,
    [rest],
  );
  for (let page = 0; page < rows[0].pages; page += PAGES) {
    await client.query(
      `delete from ${rest} as old where ctid >= '(${page},0)' and ctid < '(${page + PAGES},0)'
         and ${table.time} < $1 and ${table.isOver}`,
      [before],
    );
  }
}

/** Runs `work` in a transaction that locks out everybody else, and gives way instead of waiting for the lock. */
async function alone(client: pg.PoolClient, work: () => Promise<unknown>): Promise<void> {
  for (let left = ATTEMPTS - 1; ; left--) {
    try {
      await client.query('begin');
      await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
      await work();
      await client.query('commit');
      return;
    } catch (error) {
      await client.query('rollback');
      const isBusy = error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;
      if (!isBusy || left === 0) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
