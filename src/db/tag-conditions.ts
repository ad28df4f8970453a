import { type RawBuilder, sql } from 'kysely';
import { type TagQuery, tagFilter } from '../lib/tag-query.ts';

/**
 * Returns conditions on a `tags` column (jsonb, with a gin index): every key present, every pair equal.
 * @throws InvalidError like `tagFilter`
 */
export function tagConditions(column: string, query: TagQuery): RawBuilder<boolean>[] {
  const { tagKeys, tags } = tagFilter(query);
  const conditions: RawBuilder<boolean>[] = [];
  if (tagKeys.length > 0) conditions.push(sql<boolean>`${sql.ref(column)} ?& ${tagKeys}::text[]`);
  if (Object.keys(tags).length > 0) {
    conditions.push(sql<boolean>`${sql.ref(column)} @> ${JSON.stringify(tags)}::jsonb`);
  }
  return conditions;
}
