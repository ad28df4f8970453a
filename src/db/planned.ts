import type { Compilable } from 'kysely';
import { directWayOf, type Sql } from './database.ts';

/** Each connection keeps the plans of so many statements; a client that varies its filters can't add more. */
const MOST_KEPT = 100;

const names = new Map<string, string>();

/**
 * Runs a query with a name, so that PostgreSQL plans it once for each connection and not each time: for short
 * lists of a table with many partitions, where planning takes as long as everything else. The query must name its columns, and what
 * decides on an index must be in its text.
 */
export async function runPlanned<R>(sql: Sql, query: Compilable<R>): Promise<R[]> {
  const compiled = query.compile();
  const direct = directWayOf(sql);
  if (!direct) return (await sql.executeQuery<R>(compiled)).rows;
  const { sql: text, parameters } = compiled;
  return (await direct.query({ name: nameOf(text), text, values: [...parameters] })).rows as R[];
}

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MOST_KEPT) return known;
  const name = `planned-${names.size + 1}`;
  names.set(text, name);
  return name;
}
