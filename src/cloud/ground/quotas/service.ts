import { type RawBuilder, sql } from 'kysely';
import { type Database, type Sql, type Transaction, together } from '../../../db/database.ts';
import { compiledQuery } from '../../../db/statements.ts';
import { lockClients, requireManaged } from '../../../iam/accounts/service.ts';
import { ForbiddenError, InvalidError, NotFoundError, QuotaExceededError } from '../../../lib/errors.ts';
import { noteAccount } from '../../../lib/request-context.ts';
import { ALL_RESOURCES, type RegionalQuota } from '../../../lib/resources.ts';
import { isoMicros } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import { type Principal, requirePlatform } from '../../../requests/principal.ts';
import type { Region } from '../catalog/service.ts';
import * as names from './names.ts';
import { type AllQuotas, DEFAULT_THRESHOLD, type QuotaFields, type QuotaThreshold, type Told } from './schema.ts';
import * as store from './store.ts';
import { lastWarning, noteNearlyUsed, type Warning } from './warnings/mailing.ts';

/** Quotas are read by the account and its reseller. @throws NotFoundError */
export async function requireReadable({ sql }: { sql: Sql }, principal: Principal, clientId: number): Promise<void> {
  if (principal.clientId !== clientId) await requireManaged(sql, principal, clientId);
}

/** Does the same in the transaction of a change, with the account locked. @throws NotFoundError */
export async function lockReadable(tx: Transaction, principal: Principal, clientId: number): Promise<void> {
  await lockClients(tx, [clientId]);
  await requireReadable(tx, principal, clientId);
  noteAccount(clientId);
}

/** Limits are changed by the platform administrator alone. @throws NotFoundError, ForbiddenError */
export async function requireChangeable(database: Database, principal: Principal, clientId: number): Promise<void> {
  await requireReadable(database, principal, clientId);
  refuseOthers(principal);
  noteAccount(clientId);
}

/** What only the platform administrator does. */
export const QUOTA_DUTY = 'changes quotas; send a limit request instead';
/** @throws ForbiddenError */
export const refuseOthers = (principal: Principal): void => requirePlatform(principal, QUOTA_DUTY);

export { usageOf } from './store.ts';

type Changes = Readonly<Record<string, number | null>>;

async function numbersOf(on: Platform, clientId: number) {
  const usage = await store.usageOf(on.database.sql, clientId);
  const limits = await store.limitsOf(on.database.sql, clientId);
  const lists = await store.listedLimits(on.database.sql, clientId, on.clock.now());
  const listed = (regionId: number, quota: string) => {
    const list = lists.find((one) => `${regionId} ${quota}` in one || quota in one);
    return list?.[`${regionId} ${quota}`] ?? list?.[quota];
  };
  const byKey = (list: store.QuotaNumber[]) =>
    new Map(list.map((one) => [`${one.region_id} ${one.attribute}`, one.number]));
  const [used, own] = [byKey(usage), byKey(limits)];
  const fields = (regionId: number, quotas: readonly string[], standard: Record<string, number>) =>
    Object.fromEntries(
      quotas.flatMap((quota) => [
        [names.limitField(quota), own.get(`${regionId} ${quota}`) ?? listed(regionId, quota) ?? standard[quota] ?? 0],
        [names.usageField(quota), used.get(`${regionId} ${quota}`) ?? 0],
      ]),
    );
  return {
    regionIds: new Set([...usage, ...limits].map(({ region_id }) => region_id)),
    global: () => fields(names.NO_REGION, names.GLOBAL_NAMES, names.GLOBAL_QUOTAS),
    regional: (regionId: number) => ({
      ...fields(regionId, names.REGIONAL_QUOTAS, regionOf(on, regionId).quotas),
      region_id: regionId,
    }),
  };
}

function regionOf(on: Platform, regionId: number) {
  const region = on.catalog.regions.get(regionId);
  if (!region) throw new NotFoundError('Region', regionId);
  return region;
}

/** What a mail told, in the published form: limit and usage are under the name of either. */
function toldOf(on: Platform, { attribute, region_id, used: usage, most: limit }: Warning): Told {
  const uses = {
    [names.limitField(attribute)]: { limit, usage },
    [names.usageField(attribute)]: { limit, usage },
  };
  if (region_id === names.NO_REGION) return { global_quotas: uses, regional_quotas: [] };
  const region_name = on.catalog.regions.get(region_id)?.display_name ?? '';
  return { global_quotas: {}, regional_quotas: [{ region_id, region_name, ...uses }] };
}

async function change(
  on: Platform,
  principal: Principal,
  clientId: number,
  regionId: number,
  quotas: readonly string[],
  changes: Changes,
): Promise<void> {
  await requireChangeable(on.database, principal, clientId);
  const limits = quotas.flatMap((attribute) => {
    const number = changes[names.limitField(attribute)];
    return number === undefined ? [] : [{ region_id: regionId, attribute, number }];
  });
  if (limits.length === 0) throw new InvalidError({ body: ['Name at least one limit.'] });
  await on.database.accept(async (tx) => {
    await lockReadable(tx, principal, clientId);
    await store.changeLimits(tx, clientId, limits);
  });
}

/** Those of the caller's account. */
export async function listQuotas(on: Platform, principal: Principal): Promise<AllQuotas> {
  const { global, regional, regionIds } = await numbersOf(on, principal.clientId);
  const regions = [...on.catalog.regions.keys()].filter((id) => regionIds.has(id));
  return { global_quotas: global(), regional_quotas: regions.map(regional) };
}

/** @throws NotFoundError for a client that isn't the caller's, and for an unknown region */
export async function getRegionalQuotas(
  on: Platform,
  principal: Principal,
  clientId: number,
  regionId: number,
): Promise<QuotaFields> {
  await requireReadable(on.database, principal, clientId);
  regionOf(on, regionId);
  return (await numbersOf(on, clientId)).regional(regionId);
}

/** @throws NotFoundError */
export async function getGlobalQuotas(on: Platform, principal: Principal, clientId: number): Promise<QuotaFields> {
  await requireReadable(on.database, principal, clientId);
  return (await numbersOf(on, clientId)).global();
}

/** Takes effect at once. What is there already stays. @throws NotFoundError, ForbiddenError, InvalidError */
export async function changeRegionalQuotas(
  on: Platform,
  principal: Principal,
  clientId: number,
  regionId: number,
  changes: Changes,
): Promise<QuotaFields> {
  regionOf(on, regionId);
  await change(on, principal, clientId, regionId, names.REGIONAL_QUOTAS, changes);
  return (await numbersOf(on, clientId)).regional(regionId);
}

/** @throws as `changeRegionalQuotas` */
export async function changeGlobalQuotas(
  on: Platform,
  principal: Principal,
  clientId: number,
  changes: Changes,
): Promise<QuotaFields> {
  await change(on, principal, clientId, names.NO_REGION, names.GLOBAL_NAMES, changes);
  return (await numbersOf(on, clientId)).global();
}

/** @throws NotFoundError */
export async function getQuotaThreshold(on: Platform, principal: Principal, clientId: number): Promise<QuotaThreshold> {
  await requireReadable(on.database, principal, clientId);
  const threshold = (await store.findThreshold(on.database.sql, clientId)) ?? DEFAULT_THRESHOLD;
  const last = await lastWarning(on.database.sql, clientId);
  return {
    client_id: clientId,
    threshold,
    last_sending: last ? isoMicros(last.mailed_at) : null,
    last_message: last ? toldOf(on, last) : null,
  };
}

/** Null for the default. @throws NotFoundError */
export async function setQuotaThreshold(
  on: Platform,
  principal: Principal,
  clientId: number,
  threshold: number | null,
): Promise<void> {
  await on.database.accept(async (tx) => {
    await lockReadable(tx, principal, clientId);
    if (threshold === null) await tx.sql.deleteFrom('quota_thresholds').where('client_id', '=', clientId).execute();
    else await store.setThreshold(tx, clientId, threshold);
  });
}

/** How much of each quota something takes. */
export type QuotaAmounts = Partial<Record<RegionalQuota, number>>;

/** The account and region whose quotas are used. */
export interface QuotaOwner {
  clientId: number;
  regionId: number;
}
interface LimitedOwner extends QuotaOwner {
  region: Pick<Region, 'quotas'>;
  projectId: number;
}
type UsageOf = QuotaOwner & { attribute: RegionalQuota; amount: number };

export function quotaOwner({ clientId, regionId }: QuotaOwner): QuotaOwner {
  return { clientId, regionId };
}

/**
 * Takes one of a quota at the end of the transaction, which fails with a QuotaExceededError with the numbers, or with a
 * ForbiddenError if a budget stops what is new. The row stays locked until then, which makes the count exact.
 */
export const takeQuota = (tx: Transaction, owner: LimitedOwner, attribute: RegionalQuota): void =>
  takeQuotas(tx, owner, { [attribute]: 1 });

/** Calls `takeQuota` for several quotas, always in the same order. */
export function takeQuotas(tx: Transaction, owner: LimitedOwner, amounts: QuotaAmounts): void {
  tx.last(async () => {
    const uses = inOrder(amounts).map(([attribute, amount]) => useOf(owner, attribute, amount));
    if (tx.careful) await together(...uses.map((use) => takeNow(tx, owner, use)));
    else for (const use of uses) tx.send(mustAddUsage, use);
  });
}

async function takeNow(tx: Transaction, owner: LimitedOwner, use: NewUse): Promise<void> {
  if ((await addUsage(tx.sql, use)).length > 0) return;
  await refuseSpent(tx, owner);
  await refuseExceeded(tx, owner, { [use.attribute]: use.amount });
  // Another transaction released quota between the two statements, so try again.
  await takeNow(tx, owner, use);
}

type NewUse = UsageOf & { standard: number; projectId: number };
const useOf = (
  { clientId, projectId, regionId, region }: LimitedOwner,
  attribute: RegionalQuota,
  amount: number,
): NewUse => ({
  ...{ clientId, projectId, regionId, attribute, amount },
  standard: region.quotas[attribute],
});

const addUsage = compiledQuery((db, use: NewUse) => sql`${adding(use)} select from taken`.compile(db));
const mustAddUsage = compiledQuery((db, use: NewUse) =>
  sql`${adding(use)} select require_that(exists (select from taken))`.compile(db),
);

// The limit is read with the count, so that a changed one holds for every process at once.
const adding = (use: NewUse) => {
  const { clientId, regionId, attribute, amount, standard } = use;
  return sql`
    with allowed as materialized (select ${limitAt({ clientId, regionId }, sql`${attribute}::text`, standard)} as most),
    taken as (
      insert into quota_usage (client_id, region_id, attribute, used)
      select ${clientId}::bigint, ${regionId}::bigint, ${attribute}::text, ${amount}::bigint from allowed
      where ${amount}::bigint <= most and not exists (select from ${spentBudgets(use)})
      on conflict (client_id, region_id, attribute) do update set used = quota_usage.used + excluded.used
      where quota_usage.used + excluded.used <= (select most from allowed)
      returning used
    ), warned as (
      ${noteNearlyUsed(use, sql`select used - ${amount}::bigint as before, used, most from taken cross join allowed`)}
    )`;
};

/**
 * Budgets that let nothing new be made in the project. Work on budgets writes what was spent; another month begins with
 * nothing.
 */
const spentBudgets = ({ clientId, projectId }: { clientId: number; projectId: number }) =>
  sql`budgets where client_id = ${clientId}::bigint and (project_id is null or project_id = ${projectId}::bigint)
    and stops_creation and spent >= budgets.amount and month = to_char(tradewind_now() at time zone 'UTC', 'YYYY-MM')`;

/** For what costs something and takes no quota; what takes one asks anyway. @throws ForbiddenError if a budget is spent */
export async function refuseSpent(tx: Transaction, owner: { clientId: number; projectId: number }): Promise<void> {
  const { rows } = await sql<{ id: number; project_id: number | null; month: string; set_by: string }>`
    select id, project_id, month, set_by from ${spentBudgets(owner)} order by id limit 1`.execute(tx.sql);
  const [budget] = rows;
  if (!budget) return;
  const { id, project_id: projectId, month, set_by } = budget;
  const whose = projectId === null ? `account ${owner.clientId}` : `project ${projectId}`;
  const who = set_by === 'reseller' ? 'your reseller' : 'an administrator of your account';
  throw new ForbiddenError(
    `The budget of ${whose} for ${month} is spent, so nothing new can be made this month unless ${who} raises it: see GET /tradewind/v1/budgets/${id}`,
  );
}

/** The client's own limit. Without one, the limit of the list in force; without that, the catalogue's. */
const limitAt = ({ clientId, regionId }: QuotaOwner, attribute: RawBuilder<unknown>, standard: number) =>
  sql<number>`coalesce((
    select most from quota_limits as own
    where own.client_id = ${clientId} and own.region_id = ${regionId} and own.attribute = ${attribute}
  ), listed_quota(${clientId}, ${regionId}, ${attribute}), ${standard}::bigint)`;

/** Returns the quotas that would be exceeded. Locks nothing, so the result may be outdated at once. */
export async function exceededQuotas(
  db: Sql,
  owner: LimitedOwner,
  amounts: QuotaAmounts,
): Promise<QuotaExceededError['info'][]> {
  const asked = inOrder(amounts);
  if (asked.length === 0) return [];
  const { rows } = await sql<{ attribute: string; used: number | null; most: number | null }>`
    select attribute, used, coalesce(most, listed_quota(${owner.clientId}, ${owner.regionId}, attribute)) as most
    from unnest(${asked.map(([attribute]) => attribute)}::text[]) as asked (attribute)
    left join (select * from quota_usage where ${ownedBy(owner)}) as usage using (attribute)
    left join (select * from quota_limits where ${ownedBy(owner)}) as limits using (attribute)`.execute(db);
  const known = new Map(rows.map((row) => [row.attribute, row]));
  return asked
    .map(([attribute, requested]) => ({
      attribute,
      current_usage: known.get(attribute)?.used ?? 0,
      requested_usage: requested,
      limit: known.get(attribute)?.most ?? owner.region.quotas[attribute],
    }))
    .filter(({ current_usage, requested_usage, limit }) => current_usage + requested_usage > limit);
}

const ownedBy = ({ clientId, regionId }: QuotaOwner) => sql`client_id = ${clientId} and region_id = ${regionId}`;

/** Returns the limit of one quota, for what is counted elsewhere. */
export async function limitOf(tx: Transaction, owner: LimitedOwner, attribute: RegionalQuota): Promise<number> {
  return ownLimit(tx, owner, attribute, owner.region.quotas[attribute]);
}

/**
 * Refuses one more of what accounts have without a region. The rows are counted, one transaction after the other.
 * @throws QuotaExceededError
 */
export async function refuseOneMore(
  tx: Transaction,
  of: { clientId: number } | { projectId: number },
  attribute: names.GlobalQuota,
): Promise<void> {
  const clientId = 'clientId' in of ? of.clientId : await clientOf(tx, of.projectId);
  // The project was deleted meanwhile: the constraint refuses what would be in it.
  if (clientId === undefined) return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${attribute} ${clientId}`}, 0))`.execute(tx.sql);
  const things = {
    project_count: sql`projects where client_id = ${clientId}`,
    keypair_count: sql`ssh_keys join projects on projects.id = project_id where client_id = ${clientId}`,
  };
  const { rows } = await sql<{ used: number }>`select count(*) as used from ${things[attribute]}`.execute(tx.sql);
  const used = rows[0]?.used ?? 0;
  const owner = { clientId, regionId: names.NO_REGION };
  const limit = await ownLimit(tx, owner, attribute, names.GLOBAL_QUOTAS[attribute]);
  if (used < limit) {
    const use = sql`select ${used}::bigint as before, ${used + 1}::bigint as used, ${limit}::bigint as most`;
    await noteNearlyUsed({ ...owner, attribute }, use).execute(tx.sql);
    return;
  }
  throw new QuotaExceededError({ attribute, current_usage: used, requested_usage: 1, limit });
}

async function ownLimit(tx: Transaction, owner: QuotaOwner, attribute: string, standard: number): Promise<number> {
  const limit = limitAt(owner, sql`${attribute}::text`, standard);
  const { rows } = await sql<{ most: number }>`select ${limit} as most`.execute(tx.sql);
  return rows[0]?.most ?? standard;
}

async function clientOf(tx: Transaction, projectId: number): Promise<number | undefined> {
  const project = tx.sql.selectFrom('projects').select('client_id').where('id', '=', projectId);
  return (await project.executeTakeFirst())?.client_id;
}

/** Refuses what `takeQuotas` would refuse at the end of the transaction anyway. @throws QuotaExceededError */
export async function refuseExceeded(tx: Transaction, owner: LimitedOwner, amounts: QuotaAmounts): Promise<void> {
  const [first] = await exceededQuotas(tx.sql, owner, amounts);
  if (first) throw new QuotaExceededError(first);
}

/** Takes quotas even beyond their limits, for a caller that soon releases as much. */
export function overdrawQuotas(tx: Transaction, owner: LimitedOwner, amounts: QuotaAmounts): void {
  const taken = inOrder(amounts).map(([name, amount]) => [name, -amount]);
  releaseQuotas(tx, owner, Object.fromEntries(taken));
}

/** Gives back at the end of the transaction what `takeQuota` took, when the resource is deleted or was never created. */
export function releaseQuota(
  tx: Transaction,
  { clientId, regionId }: QuotaOwner,
  attribute: RegionalQuota,
  amount = 1,
) {
  tx.last(async () => tx.send(subtractUsage, { clientId, regionId, attribute, amount }));
}

const subtractUsage = compiledQuery((db, { clientId, regionId, attribute, amount }: UsageOf) =>
  db
    .updateTable('quota_usage')
    .set({ used: sql`used - ${amount}` })
    .where('client_id', '=', clientId)
    .where('region_id', '=', regionId)
    .where('attribute', '=', attribute)
    .compile(),
);

/** Calls `releaseQuota` for several quotas, in the order of `takeQuotas`. */
export function releaseQuotas(tx: Transaction, owner: QuotaOwner, amounts: QuotaAmounts): void {
  for (const [attribute, amount] of inOrder(amounts)) releaseQuota(tx, owner, attribute, amount);
}

/** Returns the quotas whose amount is not 0, in the order in which every transaction locks them. */
function inOrder(amounts: QuotaAmounts): [RegionalQuota, number][] {
  const attributes = (Object.keys(amounts) as RegionalQuota[]).sort();
  return attributes.flatMap((attribute): [RegionalQuota, number][] => {
    const amount = amounts[attribute] ?? 0;
    return amount === 0 ? [] : [[attribute, amount]];
  });
}

/** Forgets the limits of an account that is being deleted, and what it asked for. */
export async function forgetQuotasOf(tx: Transaction, clientId: number): Promise<void> {
  const { sql: db } = tx;
  await db.deleteFrom('quota_usage').where('client_id', '=', clientId).execute();
  await db.deleteFrom('quota_limits').where('client_id', '=', clientId).execute();
  await db.deleteFrom('quota_thresholds').where('client_id', '=', clientId).execute();
  await db.deleteFrom('quota_requests').where('client_id', '=', clientId).execute();
  await db.deleteFrom('quota_warnings').where('client_id', '=', clientId).execute();
}

/** The rows that each regional quota counts. */
const COUNTED = ALL_RESOURCES.flatMap(([, { quota, table, kept }]) =>
  quota && table ? { name: quota.name, rows: quota.counts ?? `${table} where ${kept?.own ?? 'true'}` } : [],
);

/** Counts anew what an account uses, after rows went without being released one by one. */
export async function recountQuotas(tx: Transaction, clientId: number): Promise<void> {
  const counts = COUNTED.map(
    ({ name, rows }) => sql`select project_id, region_id, ${name}::text as attribute from ${sql.raw(rows)}`,
  );
  await sql`
    update quota_usage set used = coalesce(counted.used, 0)
    from quota_usage as former left join (
      select region_id, attribute, count(*) as used from (${sql.join(counts, sql` union all `)}) as kept
      where project_id in (select id from projects where client_id = ${clientId})
      group by region_id, attribute
    ) as counted using (region_id, attribute)
    where former.client_id = ${clientId} and quota_usage.client_id = ${clientId}
      and quota_usage.region_id = former.region_id and quota_usage.attribute = former.attribute`.execute(tx.sql);
}
