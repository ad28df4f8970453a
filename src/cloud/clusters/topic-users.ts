import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { Place } from '../projects/place.ts';

/** The name of a cluster that logs into the topic of the region, or will when its running update has finished. */
export async function clusterLoggingInto(
  tx: Transaction,
  { projectId, regionId }: Place,
  topic: string,
): Promise<string | undefined> {
  const logsThere = JSON.stringify({
    logging: { enabled: true, destination_region_id: regionId, topic_name: topic },
  });
  const row = await tx.sql
    .selectFrom('kubernetes_clusters')
    .select('name')
    .where('project_id', '=', projectId)
    .where(sql<boolean>`(configuration @> ${logsThere}::jsonb or next_configuration @> ${logsThere}::jsonb)`)
    .orderBy('name')
    .limit(1)
    .executeTakeFirst();
  return row?.name;
}
