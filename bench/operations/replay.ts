import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { type Part, type Plan, partsOf } from './plan.ts';
import type { RecordedValue } from './recorded-statement.ts';

type Row = Record<string, unknown>;

/** What differs between requests of the same plan. */
interface Varying {
  unique: string;
  freshIds: readonly string[];
  /** The rows that each statement has returned so far. */
  rows: Row[][];
}

type MakeValue = (varying: Varying) => unknown;

/** Sends the statements of a plan as the product does; returns the rows of each. */
export type Replay = (unique: string) => Promise<Row[][]>;

export function compileReplay(plan: Plan, pool: pg.Pool): Replay {
  const freshIds: string[] = [];
  const statements = plan.statements.map(({ values, name, text, inTransaction, waited }) => ({
    query: { text, ...(name !== undefined && { name }) },
    values: values.map((value) => maker(value, plan, freshIds)),
    inTransaction,
    waited,
  }));

  return async (unique) => {
    const rows: Row[][] = [];
    const varying = { unique, freshIds: freshIds.map(() => randomUUID()), rows };
    let pending: Promise<void>[] = [];
    let client: pg.PoolClient | undefined;
    try {
      for (const [index, { query, values, inTransaction, waited }] of statements.entries()) {
        if (waited && pending.length > 0) {
          await Promise.all(pending);
          pending = [];
        }
        if (inTransaction) client ??= await pool.connect();
        const sender: pg.Pool | pg.PoolClient = inTransaction && client ? client : pool;
        const sent = sender.query<Row>({ ...query, values: values.map((make) => make(varying)) });
        pending.push(
          sent.then((result) => {
            rows[index] = result.rows;
          }),
        );
      }
      await Promise.all(pending);
      return rows;
    } finally {
      client?.release();
    }
  };
}

function maker(recorded: RecordedValue, plan: Plan, freshIds: string[]): MakeValue {
  if (recorded.kind === 'now') return () => new Date();
  if (recorded.kind === 'bytes') {
    const bytes = Buffer.from(recorded.base64, 'base64');
    return () => bytes;
  }
  return plainMaker(recorded.value, plan, freshIds);
}

function plainMaker(value: unknown, plan: Plan, freshIds: string[]): MakeValue {
  if (Array.isArray(value)) {
    const makers = value.map((item) => plainMaker(item, plan, freshIds));
    return (varying) => makers.map((make) => make(varying));
  }
  if (typeof value !== 'string') return () => value;
  const parts = partsOf(value, plan, freshIds);
  if (parts.every((part) => 'text' in part)) return () => value;
  return (varying) => parts.map((part) => filledIn(part, varying)).join('');
}

function filledIn(part: Part, { unique, freshIds, rows }: Varying): string {
  if ('text' in part) return part.text;
  if ('fresh' in part) return freshIds[part.fresh] ?? '';
  return 'unique' in part ? unique : String(rows[part.statement]?.[0]?.[part.column]);
}
