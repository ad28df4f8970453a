import { type RawBuilder, sql } from 'kysely';
import type { Sql } from '../../db/database.ts';
import { canonicalAddress } from '../../lib/cidr.ts';
import { isUuid } from '../../lib/ids.ts';
import { grouped } from '../../lib/lists.ts';
import { RESOURCES } from '../../lib/resources.ts';
import { beginning } from '../../lib/texts.ts';
import type { Platform } from '../../platform.ts';
import { allows, type Principal } from '../../requests/principal.ts';
import { KINDS } from './kinds.ts';
import { isInReach, isPlaceInReach, type Reach, reachOf } from './reach.ts';
import { findResources, havingAddress, kindsById, type ResourceRow } from './resources.ts';
import type { SearchResults } from './schema.ts';
import { presentedResource, presentedTasks } from './service.ts';
import { findTasks } from './tasks.ts';

const MOST_OF_KIND = 20;
/** Of those with such a beginning, so many are looked at for those of the caller's accounts. */
const MOST_SCANNED = 2_000;
const AFTER_ALL_TEXTS = '\u{10ffff}';

interface Found {
  resources: ResourceRow[];
  complete: boolean;
}
const NOTHING: Found = { resources: [], complete: true };

/** Looks a text up wherever people may have it from. What an account doesn't see is as if it weren't there. */
export async function search(on: Platform, principal: Principal, text: string): Promise<SearchResults> {
  const db = on.database.sql;
  const reach = reachOf(principal);
  const q = text.trim();
  const address = canonicalAddress(q)?.address;
  const isId = isUuid(q) || isInteger(q);
  await on.actionLog.flush();
  const requests = isUuid(q) ? await requestsById(db, principal, reach, q.toLowerCase()) : [];
  const byId = isId ? await resourcesById(db, reach, q.toLowerCase()) : NOTHING;
  const byName = address === undefined && !isUuid(q) ? await resourcesByName(db, reach, q) : NOTHING;
  const byAddress = address === undefined ? NOTHING : await resourcesByAddress(db, reach, address);
  const resources = [...byId.resources, ...byName.resources, ...byAddress.resources];
  const taskIds = [...(isUuid(q) ? [q] : []), ...requests.flatMap(({ task_id }) => task_id ?? [])];
  const tasks =
    taskIds.length === 0 ? [] : (await findTasks(db, reach, { ids: taskIds }, { limit: MOST_OF_KIND })).rows;
  const isName = address === undefined && !isUuid(q);
  return {
    resources: resources.map(presentedResource),
    former: address === undefined ? await formerResources(db, reach, q) : [],
    tasks: await presentedTasks(on, principal, tasks),
    customers: isName && !reach.projectIds ? await customers(db, reach, q) : [],
    users: isName && allows(principal, 'administer') ? await users(db, reach, q) : [],
    addresses: address === undefined ? [] : await usesOfAddress(db, reach, address),
    requests,
    complete: byName.complete && byAddress.complete,
  };
}

const isInteger = (text: string) => /^\d{1,15}$/.test(text);

async function resourcesById(db: Sql, reach: Reach, id: string): Promise<Found> {
  const kinds = kindsById(isUuid(id) ? 'uuid' : 'bigint');
  const ids = new Map(kinds.map(({ kind }) => [kind, [id]]));
  return { resources: (await findResources(db, reach, { kinds, ids }, { limit: MOST_OF_KIND })).rows, complete: true };
}

async function resourcesByName(db: Sql, reach: Reach, text: string): Promise<Found> {
  const filter = { kinds: KINDS, name: { text, begins: true } };
  const { rows, next } = await findResources(db, reach, filter, { limit: MOST_OF_KIND, each: MOST_OF_KIND });
  const kinds = [...grouped(rows, ({ kind }) => kind).values()];
  return { resources: rows, complete: next === undefined && kinds.every((of) => of.length < MOST_OF_KIND) };
}

async function resourcesByAddress(db: Sql, reach: Reach, address: string): Promise<Found> {
  const { ids, complete } = await havingAddress(db, reach, address);
  const few = new Map([...ids].map(([kind, all]) => [kind, all.slice(0, MOST_OF_KIND)]));
  const limit = MOST_OF_KIND * Math.max(1, ids.size);
  const { rows } = await findResources(db, reach, { kinds: KINDS, ids: few }, { limit });
  return { resources: rows, complete: complete && [...ids.values()].every((all) => all.length <= MOST_OF_KIND) };
}

/** Returns what the log names, the last of each, and that is there no more. */
async function formerResources(db: Sql, reach: Reach, text: string): Promise<SearchResults['former']> {
  const name = sql`lower(resource_names[1]) collate "C"`;
  const scan = isUuid(text)
    ? sql`resource_ids @> array[lower(${text}::text)] and api_group is not null order by user_actions.id desc`
    : isAlone(reach)
      ? sql`client_id = ${reach.clientId} and api_group is not null
          and lower(resource_names[1]) like lower(${beginning(text)})`
      : sql`resource_names[1] is not null and ${begins(name, text)} order by ${name}, user_actions.id`;
  const { rows } = await sql<
    Omit<SearchResults['former'][number], 'last_seen_at' | 'kind'> & { at: Date; type: keyof typeof RESOURCES }
  >`
    select distinct on (id) coalesce(resource_ids[which], '') as id, resource_types[which] as type, resource_names[which] as name,
      client_id, project_id, region_id, "timestamp" as at, operation, task_id
    from (
      select *, ${isUuid(text) ? sql`array_position(resource_ids, lower(${text}::text))` : sql`1`} as which
      from (
        select * from user_actions where ${scan} limit ${MOST_SCANNED}
      ) as log
      where ${isPlaceInReach(reach, sql`log.client_id`, sql`log.project_id`)}
    ) as named order by 1, at desc limit ${10 * MOST_OF_KIND}`.execute(db);
  const ids = grouped(rows, ({ type }) => RESOURCES[type]?.word ?? '');
  const there = new Map(
    [...ids].map(([kind, of]): [string, string[]] => {
      const isOne = KINDS.find((one) => one.kind === kind)?.ids === 'uuid' ? isUuid : isInteger;
      return [kind, of.map(({ id }) => id).filter(isOne)];
    }),
  );
  const { rows: present } = await findResources(db, reach, { kinds: KINDS, ids: there }, { limit: rows.length + 1 });
  const known = new Set(present.map(({ kind, id }) => `${kind} ${id}`));
  return rows
    .map(({ at, type, ...row }) => ({ kind: RESOURCES[type]?.word ?? null, ...row, last_seen_at: at.toISOString() }))
    .filter(({ kind, id }) => !known.has(`${kind} ${id}`))
    .toSorted((one, other) => (one.last_seen_at < other.last_seen_at ? 1 : -1))
    .slice(0, MOST_OF_KIND);
}

/** A condition that an index on the expression answers. */
const begins = (expression: RawBuilder<unknown>, text: string) =>
  sql<boolean>`${expression} >= lower(${text}) and ${expression} < lower(${text}) || ${AFTER_ALL_TEXTS}`;

/** An account is looked for in itself, so that no others are in its way. */
const isAlone = (reach: Reach) => !reach.all && reach.resellerId === undefined;

async function customers(db: Sql, reach: Reach, text: string): Promise<SearchResults['customers']> {
  const mine = isAlone(reach) ? sql`id = ${reach.clientId}` : sql`true`;
  const by = (column: string) => {
    const expression = sql`lower(${sql.ref(column)}) collate "C"`;
    return sql`(
      select * from clients where ${mine} and ${begins(expression, text)} order by ${expression}, id limit ${MOST_SCANNED})`;
  };
  const isIt = isInteger(text) ? sql`(id = ${text} or custom_id = ${text})` : sql`custom_id = ${text}`;
  const { rows } = await sql<SearchResults['customers'][number] & { created_at: Date; deleted_at: Date | null }>`
    select id, company, email, custom_id, reseller_id, status, created_at, deleted_at from (
      (select * from clients where ${mine} and ${isIt} limit ${MOST_SCANNED}) union ${by('company')} union ${by('email')}
    ) as found where ${isInReach(reach, sql`found.id`)} order by id limit ${MOST_OF_KIND}`.execute(db);
  return rows.map(({ created_at, deleted_at, ...row }) => ({
    ...row,
    created_at: created_at.toISOString(),
    deleted_at: deleted_at?.toISOString() ?? null,
  }));
}

async function users(db: Sql, reach: Reach, text: string): Promise<SearchResults['users']> {
  const email = sql`lower(email) collate "C"`;
  const mine = isAlone(reach)
    ? sql`id in (select user_id from client_users where client_id = ${reach.clientId})`
    : sql`true`;
  const isIt = isInteger(text) ? sql`id = ${text}` : sql`false`;
  const { rows } = await sql<SearchResults['users'][number]>`
    select found.id, found.email, array(
      select client_id from client_users
      where user_id = found.id and ${isInReach(reach, sql`client_id`)} order by client_id limit ${MOST_OF_KIND}
    ) as client_ids
    from (
      (select id, email from users
        where deleted_at is null and ${mine} and ${begins(email, text)} order by ${email}, id limit ${MOST_SCANNED})
      union select id, email from users where deleted_at is null and ${mine} and ${isIt}
    ) as found
    where exists (select from client_users where user_id = found.id and ${isInReach(reach, sql`client_id`)})
    order by found.email, found.id limit ${MOST_OF_KIND}`.execute(db);
  return rows;
}

async function usesOfAddress(db: Sql, reach: Reach, address: string): Promise<SearchResults['addresses']> {
  const { rows } = await sql<SearchResults['addresses'][number] & { from: Date; to: Date | null }>`
    select details ->> 'ip_address' as address, case type when 'floatingip' then 'floating_ip' else 'port' end as kind,
      coalesce(details ->> 'port_id', resource_id::text) as id, client_id, project_id, region_id,
      started_at as from, ended_at as to
    from usage_periods
    where details ->> 'ip_address' = ${address} and type in ('external_ip', 'floatingip')
      and ${isPlaceInReach(reach, sql`usage_periods.client_id`, sql`usage_periods.project_id`)}
    order by started_at desc, id desc limit ${MOST_OF_KIND}`.execute(db);
  return rows.map(({ from, to, ...row }) => ({ ...row, from: from.toISOString(), to: to?.toISOString() ?? null }));
}

/** The log of an account is for its own administrators. */
async function requestsById(
  db: Sql,
  principal: Principal,
  reach: Reach,
  id: string,
): Promise<SearchResults['requests']> {
  if (!allows(principal, 'administer')) return [];
  const only = reach.all ? sql`true` : sql`client_id = ${reach.clientId}`;
  const { rows } = await sql<SearchResults['requests'][number] & { time: Date }>`
    select request_id, "timestamp" as time, nullif(client_id, 0) as client_id, nullif(user_id, 0) as user_id, operation,
      outcome, status, task_id
    from user_actions where request_id = ${id} and ${only} order by user_actions.id desc limit ${MOST_OF_KIND}`.execute(
    db,
  );
  return rows.map(({ time, ...row }) => ({ ...row, time: time.toISOString() }));
}
