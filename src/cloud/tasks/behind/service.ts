import type { TaskEnd } from '../../../convergence/task-kind.ts';
import { WAITING } from '../../../convergence/waiting-tasks.ts';
import { announce } from '../../../db/changes.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import type { ActionResource } from '../../../lib/action-resource.ts';
import type { Clock } from '../../../lib/clock.ts';
import { HeldError } from '../../../lib/errors.ts';
import { twice } from '../../../lib/held.ts';
import { newTaskId } from '../../../lib/ids.ts';
import type { Scope } from '../../projects/service.ts';
import { ownerOf } from '../service.ts';
import { insertTask } from '../store.ts';
import { DELETION_KINDS, type Deleters } from './kinds.ts';
import * as store from './store.ts';

/** Deletions of a project that may wait. */
const MOST_WAITING = 1_000;
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
    if (
      !holder ||
      !TAKES_AWAY.test(holder.task_type) ||
      isSame(holder, { type, named }) ||
      (await store.countWaiting(tx, scope.projectId)) >= MOST_WAITING
    )
      throw held;
    const { projectId, regionId } = scope;
    const waiting = {
      taskId: newTaskId(),
      kind: type,
      args,
      about,
      projectId,
      regionId,
      behind: held.taskId,
    };
    const id = await store.insertWaiting(tx, waiting);
    if (id === waiting.taskId) {
      const createdOn = clock.now();
      const begins = Math.max(createdOn.getTime(), holder.deadline_at.getTime());
      const deadlineAt = new Date(begins + (kinds.get(type)?.deadlineMs ?? 0));
      const data = { ...named, waits_for: held.taskId };
      // Without input, its end is that of this queue.
      await insertTask(tx.sql, { ...ownerOf(scope), id, type, data, input: null, createdOn, deadlineAt });
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

/** Returns what the task of a deletion shows of what it deletes. */
function namedBy(type: string, args: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries((DELETION_KINDS[type]?.shown ?? []).map((name, at) => [name, args[at]]));
}

/** Whether the holder deletes the very thing already. */
function isSame(
  holder: { task_type: string; data: object },
  { type, named }: { type: string; named: Record<string, unknown> },
): boolean {
  const data = holder.data as Record<string, unknown>;
  // Lists say what goes with it.
  const names = Object.entries(named).filter(([, value]) => typeof value === 'string');
  return holder.task_type === type && names.every(([name, value]) => data[name] === value);
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
