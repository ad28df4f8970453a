import { canonicalAddress } from '../../lib/cidr.ts';
import { InvalidError } from '../../lib/errors.ts';
import { pageToken, placeOf } from '../../lib/page.ts';
import { calendarTime } from '../../lib/time.ts';
import type { Platform } from '../../platform.ts';
import type { Principal } from '../../requests/principal.ts';
import { KINDS } from './kinds.ts';
import { type Reach, reachOf } from './reach.ts';
import { findResources, havingAddress, type Place, type ResourceRow } from './resources.ts';
import type { ManagedResource, ManagedResourceQuery, ManagedTask, ManagedTaskQuery } from './schema.ts';
import { findTasks, type TaskPlace, type TaskRow, tasksAbout, waitingOf } from './tasks.ts';

const LIMIT = 50;
const MOST_MICROS = 1e17;

interface Page<T> {
  results: T[];
  next_page_token: string | null;
}

const tokenFor = (place: readonly (string | number)[] | undefined): string | null => (place ? pageToken(place) : null);

const isMicros = (one: unknown): one is number => Number.isInteger(one) && Math.abs(Number(one)) < MOST_MICROS;
const isId = (one: unknown): one is string => typeof one === 'string' && /^[0-9a-f-]{1,36}$/.test(one);
const UUID_LENGTH = 36;

/** Lists the tasks of the accounts that the caller manages. @throws InvalidError */
export async function listTasks(
  on: Platform,
  principal: Principal,
  query: ManagedTaskQuery,
): Promise<Page<ManagedTask>> {
  const { resource_id: about, page_token, limit = LIMIT, from, to, error, state, ...places } = query;
  const after = placeOf(
    page_token,
    (place): place is TaskPlace =>
      Array.isArray(place) &&
      place.length === 2 &&
      isMicros(place[0]) &&
      isId(place[1]) &&
      place[1].length === UUID_LENGTH,
  );
  if (about) await on.actionLog.flush();
  const { rows, next } = await findTasks(
    on.database.sql,
    reachOf(principal),
    {
      ...places,
      ...(error === undefined
        ? state && { state }
        : { error, state: state?.filter((one) => one === 'ERROR') ?? ['ERROR'] }),
      from: calendarTime('from', from),
      before: calendarTime('to', to),
      ...(about && { ids: await tasksAbout(on.database.sql, about) }),
    },
    { after, limit },
  );
  return { results: await presentedTasks(on, principal, rows), next_page_token: tokenFor(next) };
}

/** Workers and backends are the platform's own affair. */
export async function presentedTasks(
  on: Platform,
  { platformAdministrator }: Principal,
  rows: readonly TaskRow[],
): Promise<ManagedTask[]> {
  const waiting = await waitingOf(
    on,
    rows.filter(({ state }) => state !== 'FINISHED').map(({ id }) => id),
  );
  return rows.map(({ micros: _, ...row }) => {
    const waits = waiting.get(row.id);
    return {
      ...row,
      created_on: row.created_on.toISOString(),
      updated_on: row.updated_on?.toISOString() ?? null,
      finished_on: row.finished_on?.toISOString() ?? null,
      deadline_at: row.deadline_at.toISOString(),
      waits_for: waits
        ? {
            ...waits,
            ...(!platformAdministrator && { worker: null, backend: null }),
            due_at: waits.due_at?.toISOString() ?? null,
          }
        : null,
    };
  });
}

/** Lists the resources of the accounts that the caller manages. @throws InvalidError */
export async function listResources(
  on: Platform,
  principal: Principal,
  query: ManagedResourceQuery,
): Promise<Page<ManagedResource>> {
  const { kind, name, page_token, limit = LIMIT, from, to, address, ...places } = query;
  const after = placeOf(
    page_token,
    (place): place is Place =>
      Array.isArray(place) &&
      place.length === 3 &&
      (name === undefined ? isMicros(place[0]) : typeof place[0] === 'string') &&
      KINDS.some((one) => one.kind === place[1] && hasForm(one.ids, place[2])),
  );
  const reach = reachOf(principal);
  const ids = address === undefined ? undefined : await idsAt(on, reach, address);
  const { rows, next } = await findResources(
    on.database.sql,
    reach,
    {
      ...places,
      kinds: kind ? KINDS.filter((one) => kind.includes(one.kind)) : KINDS,
      ...(name !== undefined && { name: nameOf(name) }),
      ...(ids && { ids }),
      from: calendarTime('from', from),
      before: calendarTime('to', to),
    },
    { after, limit },
  );
  return { results: rows.map(presentedResource), next_page_token: tokenFor(next) };
}

const hasForm = (ids: 'bigint' | 'uuid', id: unknown): boolean =>
  isId(id) && (ids === 'uuid' ? id.length === UUID_LENGTH : /^\d{1,15}$/.test(id));

const nameOf = (name: string) =>
  name.endsWith('*') ? { text: name.slice(0, -1), begins: true } : { text: name, begins: false };

async function idsAt(on: Platform, reach: Reach, text: string) {
  const address = canonicalAddress(text)?.address;
  if (address === undefined) throw new InvalidError({ address: ['Must be an IP address such as 203.0.113.7.'] });
  return (await havingAddress(on.database.sql, reach, address)).ids;
}

export function presentedResource({ sort: _, created_at, ...row }: ResourceRow): ManagedResource {
  return { ...row, created_at: created_at.getTime() === 0 ? null : created_at.toISOString() };
}
