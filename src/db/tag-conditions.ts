import { type RawBuilder, sql } from 'kysely';

/** Conditions on a `tags` column (jsonb, with a gin index): every key present, every pair equal. */
export function tagConditions(
  column: string,
  filter: { tagKeys: string[]; tags: Record<string, string> },
): RawBuilder<boolean>[] {
  const conditions: RawBuilder<boolean>[] = [];
  if (filter.tagKeys.length > 0) {
    conditions.push(sql<boolean>`${sql.ref(column)} ?& ${filter.tagKeys}::text[]`);
  }
  if (Object.keys(filter.tags).length > 0) {
    conditions.push(sql<boolean>`${sql.ref(column)} @> ${JSON.stringify(filter.tags)}::jsonb`);
  }
  return conditions;
}
