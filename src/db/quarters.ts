import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Database } from './database.ts';

/**
 * A table with a partition for each quarter of a year. The default partition holds rows from before there were any,
 * and those of a quarter that was not created in time. Months would be too many: PostgreSQL plans every list over all
 * partitions, which for sixteen of them takes longer than the list itself.
 */
export interface QuarterlyTable {
  name: string;
  /** Its value grows with time and determines the quarter. */
  column: string;
  /** Returns the smallest value of the column from that moment on, as SQL. */
  from(moment: Date): string;
  /** The time at which a row was created. */
  time: string;
  /** A condition: the row has not ended. A row that has ended never begins again. */
  open?: string;
  /** A condition: the row may be deleted once it is old. */
  isOver: string;
  /** A condition that indexes answer: the quarter has a row that isn't over. */
  goesOn(quarter: string): string;
}

export interface Keeping {
  now: Date;
  /** Rows from before then may go; undefined if they are kept for ever. */
  before: Date | undefined;
}

export interface Kept {
  made: string[];
  dropped: { quarter: string; tookMs: number }[];
  /** Quarters that are old enough, but have a row that isn't over. */
  held: string[];
}

const DAY_MS = 86_400_000;
/** The next quarter is created in the month before it, not earlier, because lists look into every quarter. */
const EARLIEST_MS = 31 * DAY_MS;
/** A quarter that begins sooner is not created any more: its first rows could come while that happens. */
const SOONEST_MS = DAY_MS;
/** New rows may come for this long after the end of a quarter, because clocks differ. */
const SETTLED_MS = DAY_MS;
/** Everybody else waits behind a request for a lock on the whole table, so it must not wait long itself. */
const LOCK_TIMEOUT = '200ms';
const ATTEMPTS = 60;
const PAUSE_MS = 100;
const LOCK_NOT_AVAILABLE = '55P03';
const CHECK_VIOLATION = '23514';
/** How much of the default partition one statement looks through. */
const PAGES = 4_096;

/** Creates the next quarter of a table and drops those that are old enough, unless another process is doing so. */
export async function keepQuarters(
  { pool }: Pick<Database, 'pool'>,
  table: QuarterlyTable,
  { now, before }: Keeping,
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
    // Rows that are kept for ever need no quarters, and each quarter makes every list a little slower.
    if (!before) return { made: [], dropped: [], held: [] };
    const made = await makeAhead(client, table, now);
    await closeEnded(client, table, now);
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
    // After an error the connection is closed, which releases the lock.
    client.release(broken);
  }
}

interface Quarter {
  name: string;
  start: Date;
  end: Date;
}

/** Returns the quarter of that moment in UTC, or one that many quarters later. */
function quarterOf({ name }: QuarterlyTable, moment: Date, later = 0): Quarter {
  const number = Math.floor(moment.getUTCMonth() / 3) + later;
  const start = new Date(Date.UTC(moment.getUTCFullYear(), number * 3));
  const end = new Date(Date.UTC(moment.getUTCFullYear(), number * 3 + 3));
  return { name: `${name}_${start.getUTCFullYear()}_q${start.getUTCMonth() / 3 + 1}`, start, end };
}

interface KnownQuarter extends Quarter {
  attached: boolean;
  /** Whether the constraint that says so is validated; null if there is none. */
  closed: boolean | null;
}

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

/** Removes what a killed process left behind. A table that isn't attached has nothing that is still needed. */
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
    await client.query(`alter table ${name} attach partition ${quarter.name} for values from (${from}) to (${to})`);
    await client.query(`alter table ${rest} drop constraint ${elsewhere}`);
  });
  return true;
}

/**
 * Adds a constraint to an ended quarter: its rows have ended too, and none is newer than its end. PostgreSQL then
 * doesn't even plan to look there for running tasks or for recent ones.
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
      // A clock was wrong. The quarter stays open, and lists stay a little slower.
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
      // Otherwise dropping it would lock the tables that it refers to.
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

/** The default partition can't be dropped, so its old rows are deleted. */
async function forgetRows(client: pg.PoolClient, table: QuarterlyTable, before: Date): Promise<void> {
  const rest = `${table.name}_default`;
  const { rows } = await client.query(`select pg_relation_size($1) / current_setting('block_size')::bigint as pages`, [
    rest,
  ]);
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
