import { isDeepStrictEqual } from 'node:util';
import type { TaskEnd } from '../../../../convergence/task-kind.ts';
import { WAITING } from '../../../../convergence/waiting-tasks.ts';
import { announce } from '../../../../db/changes.ts';
import type { Database, Transaction } from '../../../../db/database.ts';
import type { ActionResource } from '../../../../lib/action-resource.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { ConflictError, HeldError } from '../../../../lib/errors.ts';
import { twice } from '../../../../lib/held.ts';
import { newTaskId } from '../../../../lib/ids.ts';
import type { Scope } from '../../projects/service.ts';
import { ownerOf } from '../service.ts';
import { insertTask } from '../store.ts';
import { DELETION_KINDS, type Deleters } from './kinds.ts';
import * as store from './store.ts';

/** Deletions that may wait. */
const MOST_OF_PROJECT = 1_000;
const MOST_OF_ACCOUNT = 2_000;
/** Tasks that delete or detach what uses the things they hold. Other tasks may leave those things in use. */
const TAKES_AWAY = /^(?:delete|detach)_/;

type Method = (scope: Scope, ...args: unknown[]) => Promise<string | undefined>;
type Methods = Record<string, Method>;

/** Returns the method that deletes things of a kind. @throws TypeError */
export function deletionOf(services: Deleters, type: string): Method {
  const kind = DELETION_KINDS[type];
  const method = kind && (services[kind.service] as unknown as Methods)[kind.method];
  if (!method) throw new TypeError(`There are no deletions of the type ${type}`);
  return method;
}

/**
 * Returns the services with deletions that wait behind the task that holds what they delete, instead of being refused.
 * The task of such a deletion stays NEW until the other task has ended. Then a worker calls the plain service; if another
 * task holds the thing by that time, the deletion waits for that one. A waiting deletion holds nothing itself.
 */
export function withWaitingDeletions<Services extends Deleters>(
  services: Services,
  deps: { database: Database; clock: Clock; kinds: ReadonlyMap<string, TaskEnd> },
): Services {
  const { database, clock, kinds } = deps;

  async function wait(
    tx: Transaction,
    scope: Scope,
    {
      type,
      args,
      about,
      held,
    }: { type: string; args: unknown[]; about: readonly ActionResource[]; held: HeldError },
  ): Promise<string> {
    const holder = await store.holder(tx, held.taskId);
    const named = namedBy(type, args);
    if (!holder || !TAKES_AWAY.test(holder.task_type) || isSame(holder, { type, named })) throw held;
    const { clientId, projectId, regionId } = scope;
    const taskId = newTaskId();
    const thing = thingOf(named, about);
    const waiting = { taskId, kind: type, args, about, thing, clientId, projectId, regionId };
    const { id, args: before } = await store.insertWaiting(tx, { ...waiting, behind: held.taskId });
    if (id === taskId) {
      const { ofAccount, ofProject } = await store.countWaiting(tx, scope);
      if (ofAccount > MOST_OF_ACCOUNT || ofProject > MOST_OF_PROJECT) throw held;
      const createdOn = clock.now();
      const begins = Math.max(createdOn.getTime(), holder.deadline_at.getTime());
      const deadlineAt = new Date(begins + (kinds.get(type)?.deadlineMs ?? 0));
      const data = { ...named, ...shownOptions(type, args), waits_for: held.taskId };
      // Without input, its end is that of this queue.
      await insertTask(tx.sql, { ...ownerOf(scope), id, type, data, input: null, createdOn, deadlineAt });
    } else if (!isDeepStrictEqual(optionsOf(type, before), optionsOf(type, args))) {
      throw new ConflictError(
        `Task ${id} already waits to delete this, with other options. Cancel that task first, or send the same options`,
      );
    }
    scope.principal.writes?.started(id);
    await announce(tx.client, WAITING, '');
    return id;
  }

  const patient =
    (type: string, remove: Method): Method =>
    async (scope, ...args) => {
      const { noting, about } = noted(scope);
      try {
        return await twice(() => remove(noting, ...args));
      } catch (held) {
        if (!(held instanceof HeldError) || scope.principal.writes?.oneVersion) throw held;
        return database.accept(scope.principal, (tx) => {
          for (const one of about) scope.principal.writes?.about(one);
          return wait(tx, scope, { type, args, about, held });
        });
      }
    };

  const changed = { ...services } as unknown as Record<string, object>;
  for (const [type, { service, method }] of Object.entries(DELETION_KINDS)) {
    const remove = patient(type, deletionOf(services, type));
    changed[service] = { ...changed[service], [method]: remove };
  }
  return changed as unknown as Services;
}

/** Returns the arguments that name what is deleted, by their names. */
function namedBy(type: string, args: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries((DELETION_KINDS[type]?.names ?? []).map((name, at) => [name, args[at]]));
}

/** Returns what the task of a waiting deletion shows of its options. */
function shownOptions(type: string, args: readonly unknown[]): Record<string, unknown> {
  const { names, options } = DELETION_KINDS[type] ?? { names: [], options: [] };
  return Object.fromEntries(options.map((name, at) => [name, args[names.length + at]]));
}

/** Returns what else is asked for, so that it can be compared with what was stored. */
function optionsOf(type: string, args: readonly unknown[]): unknown {
  const options = args.slice(DELETION_KINDS[type]?.names.length);
  return (JSON.parse(JSON.stringify(options)) as unknown[]).map(comparable);
}

/** All lists are of IDs, whose order and case make no difference. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return new Set(value.map(plain));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, comparable(one)]));
}

const plain = (name: unknown): string => String(name).toLowerCase();

/** Names what is deleted, however the request writes its ID. A name may have become another thing's: hence what it is about. */
const thingOf = (named: Record<string, unknown>, about: readonly ActionResource[]): string =>
  [...Object.values(named).map(plain), ...about.map(({ type, id }) => `${type}:${id}`)].join(' ');

/** Whether the holder deletes the very thing already. */
function isSame(
  holder: { task_type: string; data: object },
  { type, named }: { type: string; named: Record<string, unknown> },
): boolean {
  const data = holder.data as Record<string, unknown>;
  const names = Object.entries(named);
  return holder.task_type === type && names.every(([name, value]) => plain(data[name]) === plain(value));
}

/** Returns the scope for an attempt, and what the attempt says that it is about. */
function noted(scope: Scope): { noting: Scope; about: readonly ActionResource[] } {
  const { writes } = scope.principal;
  const about: ActionResource[] = [];
  if (!writes) return { noting: scope, about };
  const noting: typeof writes = {
    ...writes,
    async before(tx) {
      about.length = 0;
      await writes.before(tx);
    },
    about(resource) {
      const { type, id, name } = resource;
      about.push({ type, id, ...(typeof name === 'string' && { name }) });
      writes.about(resource);
    },
  };
  return { noting: { ...scope, principal: { ...scope.principal, writes: noting } }, about };
}
