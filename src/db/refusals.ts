import pg from 'pg';
import { OperatorError } from '../lib/operator-error.ts';

/** A table, object or schema of that name exists already. */
const TAKEN = new Set(['42P07', '42710', '42P06']);
const NOT_ALLOWED = '42501';

/**
 * Returns what to do about a database that refuses what Tradewind needs; undefined if there is nothing
 * special to say.
 */
export async function refusalNamed(
  pool: Pick<pg.Pool, 'query'>,
  error: unknown,
): Promise<OperatorError | undefined> {
  if (!(error instanceof pg.DatabaseError)) return undefined;
  const { code = '', message } = error;
  if (code !== NOT_ALLOWED && !TAKEN.has(code)) return undefined;
  const { rows } = await pool.query<{ role: string; database: string }>(
    'select current_user as role, current_database() as database',
  );
  const { role, database } = rows[0] ?? { role: '?', database: '?' };
  const text =
    code === NOT_ALLOWED
      ? `The role "${role}" may not do what Tradewind needs in the database "${database}": ${message}. Use the role that owns the database and Tradewind's tables, or make this one their owner (alter database "${database}" owner to "${role}"; reassign owned by ... to "${role}")`
      : `The database "${database}" is used by another program: ${message}. Tradewind needs a database of its own (create database tradewind owner "${role}")`;
  return new OperatorError(text, { cause: error });
}
