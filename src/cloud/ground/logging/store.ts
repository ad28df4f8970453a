import { type Insertable, type Selectable, sql } from 'kysely';
import { isIn, type Place, type Sql, type Transaction } from '../../../db/database.ts';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import type { Page, PageQuery } from '../../../lib/page.ts';

export type ServiceRow = Selectable<Tables['logging_services']>;
export type TopicRow = Selectable<Tables['logging_topics']>;

function services(db: Sql, place: Place) {
  return db.selectFrom('logging_services').selectAll().where(isIn(place));
}

function topics(db: Sql, place: Place) {
  return db.selectFrom('logging_topics').selectAll().where(isIn(place));
}

export async function findService(db: Sql, place: Place): Promise<ServiceRow | undefined> {
  return services(db, place).executeTakeFirst();
}

/** Locks the project's logging against concurrent changes until the transaction ends, and returns it. */
export async function lockService(tx: Transaction, place: Place): Promise<ServiceRow | undefined> {
  return services(tx.sql, place).forUpdate().executeTakeFirst();
}

/** Locks the logging of all the account's projects in the region, always in the same order, and returns it. */
export async function lockServicesOf(tx: Transaction, { clientId, regionId }: { clientId: number; regionId: number }) {
  return tx.sql
    .selectFrom('logging_services')
    .innerJoin('projects', 'projects.id', 'logging_services.project_id')
    .selectAll('logging_services')
    .where('projects.client_id', '=', clientId)
    .where('region_id', '=', regionId)
    .orderBy('project_id')
    .forUpdate('logging_services')
    .execute();
}

export async function isTaken(db: Sql, { projectId, regionId }: Place, namespace: string): Promise<boolean> {
  const other = await db
    .selectFrom('logging_services')
    .select('project_id')
    .where('region_id', '=', regionId)
    .where('namespace', '=', namespace)
    .where('project_id', '<>', projectId)
    .executeTakeFirst();
  return other !== undefined;
}

/** Does nothing if the row exists. Violates `logging_services_namespace` if another project has the namespace. */
export async function insertService(tx: Transaction, { projectId, regionId }: Place, namespace: string): Promise<void> {
  await tx.sql
    .insertInto('logging_services')
    .values({ project_id: projectId, region_id: regionId, namespace, credential: null, created_at: tx.now })
    .onConflict((conflict) => conflict.columns(['project_id', 'region_id']).doNothing())
    .execute();
}

export async function deleteService(tx: Transaction, place: Place): Promise<void> {
  await tx.sql.deleteFrom('logging_services').where(isIn(place)).execute();
}

export async function setCredential(tx: Transaction, place: Place, credential: string): Promise<void> {
  await tx.sql.updateTable('logging_services').set({ credential }).where(isIn(place)).execute();
}

export async function listTopics(db: Sql, place: Place, page: PageQuery): Promise<Page<TopicRow>> {
  return pageWithCount(topics(db, place).orderBy('name'), page);
}

export async function countTopics(tx: Transaction, projectIds: readonly number[], regionId: number): Promise<number> {
  const { count } = await tx.sql
    .selectFrom('logging_topics')
    .select(sql<number>`count(*)`.as('count'))
    .where('project_id', 'in', projectIds)
    .where('region_id', '=', regionId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function lockTopic(tx: Transaction, place: Place, name: string): Promise<TopicRow | undefined> {
  return topics(tx.sql, place).where('name', '=', name).forUpdate().executeTakeFirst();
}

/** Creates the topic, or replaces the settings of the existing one. */
export async function putTopic(tx: Transaction, topic: Insertable<Tables['logging_topics']>): Promise<void> {
  const { retention_days, index_pattern_id, size_in_bytes } = topic;
  await tx.sql
    .insertInto('logging_topics')
    .values(topic)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'region_id', 'name'])
        .doUpdateSet({ retention_days, index_pattern_id, size_in_bytes }),
    )
    .execute();
}

/** Creates the topic, or changes how long the existing one keeps logs. */
export async function keepTopic(
  tx: Transaction,
  { projectId, regionId }: Place,
  topic: { name: string; retentionDays: number | null | undefined },
): Promise<void> {
  await tx.sql
    .insertInto('logging_topics')
    .values({
      project_id: projectId,
      region_id: regionId,
      name: topic.name,
      retention_days: topic.retentionDays ?? null,
      index_pattern_id: null,
      size_in_bytes: 0,
    })
    .onConflict((conflict) => {
      const same = conflict.columns(['project_id', 'region_id', 'name']);
      return topic.retentionDays === undefined
        ? same.doNothing()
        : same.doUpdateSet({ retention_days: topic.retentionDays });
    })
    .execute();
}

export async function deleteTopic(tx: Transaction, place: Place, name: string): Promise<void> {
  await tx.sql.deleteFrom('logging_topics').where(isIn(place)).where('name', '=', name).execute();
}

/** Returns the name of a cluster that logs to the topic in the region, or will after its running update. */
export async function clusterLoggingInto(tx: Transaction, { projectId, regionId }: Place, topic: string) {
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
