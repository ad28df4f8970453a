import type { TopicAnswer } from './schema.ts';
import type { TopicRow } from './store.ts';

export function presentedTopic(row: TopicRow): TopicAnswer {
  return {
    name: row.name,
    retention_policy: row.retention_days === null ? null : { period: row.retention_days },
    index_pattern: row.index_pattern_id === null ? null : { id: row.index_pattern_id },
    size_in_bytes: row.size_in_bytes,
  };
}
