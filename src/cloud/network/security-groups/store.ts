import { type RawBuilder, type Selectable, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import {
  belongsTo,
  isIn,
  type Place,
  type Sql,
  type Transaction,
  tagConditions,
  violates,
} from '../../../db/database.ts';
import { plannedPage } from '../../../db/page.ts';
import { compiledQuery } from '../../../db/statements.ts';
import type { Tables } from '../../../db/tables.ts';
import { ConflictError } from '../../../lib/errors.ts';
import type { Page } from '../../../lib/page.ts';
import { type IdentifiedRule, newRules, type RuleRow } from './rules/store.ts';
import type { GroupListQuery } from './schema.ts';

export type PlainGroup = Selectable<Tables['security_groups']>;
export type SecurityGroupRow = PlainGroup & { rules: RuleRow[] };

/** Selects groups with their rules in one query. */
function groups(db: Sql, where: RawBuilder<boolean>) {
  return db
    .selectFrom('security_groups')
    .selectAll()
    .where(where)
    .select((group) =>
      jsonArrayFrom(
        group
          .selectFrom('security_group_rules as rule')
          .selectAll()
          .whereRef('rule.security_group_id', '=', 'security_groups.id')
          .orderBy('rule.created_at')
          .orderBy('rule.position'),
      ).as('rules'),
    );
}

export async function findGroup(db: Sql, place: Place, id: string): Promise<SecurityGroupRow | undefined> {
  const [row] = await groupById(db, { ...place, id });
  return row && withDates(row);
}

const groupById = compiledQuery((db, args: Place & { id: string }) =>
  groups(db, belongsTo(args)).where('id', '=', args.id).compile(),
);

export async function listGroups(db: Sql, place: Place, query: GroupListQuery): Promise<Page<SecurityGroupRow>> {
  let matching = groups(db, isIn(place)).where((eb) => eb.and(tagConditions('tags', query)));
  if (query.name !== undefined) matching = matching.where('name', '=', query.name);
  const ordered = matching.orderBy('created_at', 'desc').orderBy('id', 'desc');
  const { count, rows } = await plannedPage(db, ordered, query, 10);
  return { count, rows: rows.map(withDates) };
}

/** JSON carries times as text. */
type WithRuleTexts = Omit<SecurityGroupRow, 'rules'> & {
  rules: (Omit<RuleRow, 'created_at' | 'updated_at'> & { created_at: string; updated_at: string })[];
};

function withDates(row: WithRuleTexts): SecurityGroupRow {
  const rules = row.rules.map((rule) => ({
    ...rule,
    created_at: new Date(rule.created_at),
    updated_at: new Date(rule.updated_at),
  }));
  return { ...row, rules };
}

/** Returns where those of these groups are that exist, and whose they are. */
export async function placesOfGroups(db: Sql, ids: readonly string[]) {
  return db
    .selectFrom('security_groups as group')
    .innerJoin('projects', 'projects.id', 'group.project_id')
    .select(['group.id', 'group.project_id', 'group.region_id', 'projects.client_id'])
    .where('group.id', 'in', ids)
    .execute();
}

export interface NewGroup {
  id: string;
  place: Place;
  name: string;
  description: string;
  tags: Record<string, string>;
  clusterId?: string | null;
  rules: IdentifiedRule[];
}

const FIRST_REVISION = 1;

/** Sends a new group with its rules. The transaction fails with a ConflictError when another group has the name. */
export function insertGroup(tx: Transaction, { place, clusterId = null, rules, ...group }: NewGroup): SecurityGroupRow {
  const row = {
    ...group,
    project_id: place.projectId,
    region_id: place.regionId,
    is_default: false,
    cluster_id: clusterId,
    revision_number: FIRST_REVISION,
    created_at: tx.now,
    updated_at: tx.now,
  };
  const ruleRows = newRules(group.id, rules, tx.now);
  const written = { row: JSON.stringify(row), rules: JSON.stringify(ruleRows) };
  tx.send((db, args: typeof written) => withFreeName(group.name, insertGroupWithRules(db, args)), written);
  return { ...row, rules: ruleRows };
}

const insertGroupWithRules = compiledQuery((db, args: { row: string; rules: string }) =>
  sql`
    with made as (
      insert into security_groups select * from jsonb_populate_record(null::security_groups, ${args.row}::jsonb)
    )
    insert into security_group_rules
    select * from jsonb_populate_recordset(null::security_group_rules, ${args.rules}::jsonb)`.compile(db),
);

/** Returns the IDs of the project's groups in the region with one of these names, and locks them against deletion. */
export async function groupIdsByName(tx: Transaction, place: Place, names: string[]): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const matching = tx.sql
    .selectFrom('security_groups')
    .select(['id', 'name'])
    .where(isIn(place))
    .where('name', 'in', names);
  const rows = await matching.orderBy('id').forKeyShare().execute();
  return new Map(rows.map(({ id, name }) => [name, id]));
}

/** What keeps a group from being deleted, up to `limit` of each kind. Nodes come last: their pools are named anyway. */
export const usersOfGroup = compiledQuery((db, { id, limit }: { id: string; limit: number }) => {
  const ports = db
    .selectFrom('port_security_groups as link')
    .innerJoin('ports', 'ports.id', 'link.port_id')
    .leftJoin('instances', 'instances.id', 'ports.instance_id')
    .select(['ports.id', 'reserved', 'instances.id as instanceId', 'instances.name as instanceName'])
    .where('link.security_group_id', '=', id)
    .orderBy(sql`pool_id is not null`)
    .orderBy('ports.id')
    .limit(limit);
  const pools = db
    .selectFrom('kubernetes_pool_security_groups as link')
    .innerJoin('kubernetes_pools as pool', 'pool.id', 'link.pool_id')
    .innerJoin('kubernetes_clusters as cluster', 'cluster.id', 'pool.cluster_id')
    .select(['pool.name', 'cluster.name as clusterName', 'cluster.id as clusterId'])
    .where('link.security_group_id', '=', id)
    .orderBy('cluster.name')
    .orderBy('pool.name')
    .limit(limit);
  const groups = db
    .selectFrom('security_group_rules')
    .select('security_group_id as id')
    .distinct()
    .where('remote_group_id', '=', id)
    .where('security_group_id', '!=', id)
    .limit(limit);
  return db
    .selectNoFrom([
      jsonArrayFrom(ports).as('ports'),
      jsonArrayFrom(pools).as('pools'),
      jsonArrayFrom(groups).as('groups'),
    ])
    .compile();
});

/** Locks the group until the transaction ends, so that no port and no rule can begin to use it. */
export async function lockGroup(tx: Transaction, place: Place, id: string) {
  return (await lockRow(tx.sql, { ...place, id }))[0];
}
const lockRow = compiledQuery((db, args: Place & { id: string }) =>
  db
    .selectFrom('security_groups')
    .select(['id', 'name', 'is_default', 'cluster_id'])
    .where('id', '=', args.id)
    .where(belongsTo(args))
    .forUpdate()
    .compile(),
);

/** Locks the group against other changes of it or its rules. Ports and rules may still begin to use it. */
export async function lockForChange(tx: Transaction, place: Place, id: string): Promise<PlainGroup | undefined> {
  return tx.sql
    .selectFrom('security_groups')
    .selectAll()
    .where('id', '=', id)
    .where(belongsTo(place))
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Changes the group, which gets its next revision. @throws ConflictError when another group has the name */
export async function updateGroup(
  tx: Transaction,
  id: string,
  { name, description, tags }: Pick<PlainGroup, 'name' | 'description' | 'tags'>,
): Promise<PlainGroup> {
  const update = tx.sql
    .updateTable('security_groups')
    .set({
      name,
      description,
      tags: JSON.stringify(tags),
      revision_number: sql`revision_number + 1`,
      updated_at: tx.now,
    })
    .where('id', '=', id)
    .returningAll();
  return withFreeName(name, update.executeTakeFirstOrThrow());
}

/** Deletes a group with its rules. */
export const deleteGroup = compiledQuery((db, { id }: { id: string }) =>
  withItsRules(sql`delete from security_groups where id = ${id}`).compile(db),
);

/**
 * Deletes groups with their rules, which may name the group itself. With a cascade alone, such rules would be deleted
 * in time or too late, depending on which constraint is older, and a restored dump has the constraints in another
 * order.
 */
function withItsRules(deletion: RawBuilder<unknown>) {
  return sql`
    with gone as (${deletion} returning id),
      rules as (delete from security_group_rules where security_group_id in (select id from gone))
    select id from gone`;
}

export async function groupOfCluster(tx: Transaction, clusterId: string): Promise<string | undefined> {
  const row = await tx.sql
    .selectFrom('security_groups')
    .select('id')
    .where('cluster_id', '=', clusterId)
    .executeTakeFirst();
  return row?.id;
}

/** Returns up to `limit` users of the cluster's group that don't belong to the cluster, each as `port <id>`. */
export async function usersOfClusterGroup(tx: Transaction, clusterId: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with used as (select id from security_groups where cluster_id = ${clusterId})
    select 'port ' || link.port_id as name from port_security_groups as link
    join ports on ports.id = link.port_id
    left join instances on instances.id = ports.instance_id
    left join kubernetes_pools as pool on pool.id = instances.pool_id
    where link.security_group_id in (select id from used) and pool.cluster_id is distinct from ${clusterId}
    union
    select 'security group ' || rule.security_group_id from security_group_rules as rule
    where rule.remote_group_id in (select id from used) and rule.security_group_id not in (select id from used)
    union
    select 'pool ' || pool.name || ' of cluster ' || cluster.name
    from kubernetes_pool_security_groups as link
    join kubernetes_pools as pool on pool.id = link.pool_id
    join kubernetes_clusters as cluster on cluster.id = pool.cluster_id
    where link.security_group_id in (select id from used) and cluster.id <> ${clusterId}
    order by name
    limit ${limit}`.execute(tx.sql);
  return rows.map(({ name }) => name);
}

/** Locks the group until the transaction ends, so that nothing can begin to use it. */
export async function lockGroupById(tx: Transaction, id: string): Promise<void> {
  await tx.sql.selectFrom('security_groups').select('id').where('id', '=', id).forUpdate().execute();
}

/** Deletes the group, which must be locked, unless something uses it. Returns whether it was deleted. */
export async function deleteUnusedGroup(tx: Transaction, id: string): Promise<boolean> {
  const { rows } = await withItsRules(sql`
    delete from security_groups where id = ${id}
      and not exists (select from port_security_groups where security_group_id = ${id})
      and not exists (select from kubernetes_pool_security_groups where security_group_id = ${id})
      and not exists (
        select from security_group_rules where remote_group_id = ${id} and security_group_id <> ${id}
      )`).execute(tx.sql);
  return rows.length > 0;
}

/** Reserves the name of the default group in any letter case (Neutron securitygroups_db). @throws ConflictError */
export function refuseDefaultName(name: string): void {
  if (name.toLowerCase() === 'default') throw nameTaken(name);
}

/** Waits for a write that names a group. @throws ConflictError when another group has the name */
async function withFreeName<T>(name: string, written: Promise<T>): Promise<T> {
  try {
    return await written;
  } catch (error) {
    throw violates(error, 'security_groups_name') ? nameTaken(name) : error;
  }
}

function nameTaken(name: string): ConflictError {
  return new ConflictError(
    `A security group named ${name} already exists in this project and region; choose another name`,
  );
}
