import { isDeepStrictEqual } from 'node:util';
import type { Notices, TaskEnd } from '../../../../convergence/task-kind.ts';
import { WAITING } from '../../../../convergence/waiting-tasks.ts';
import type { Transaction } from '../../../../db/database.ts';
import type { Foundation } from '../../../../foundation.ts';
import { ConflictError, HeldError } from '../../../../lib/errors.ts';
import { newTaskId, twice } from '../../../../lib/ids.ts';
import { type ChangeRecord, recordedBy, recordNow } from '../../../../lib/request-context.ts';
import type { ActionResource, ResourceType } from '../../../../lib/resources.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { ownerOf } from '../service.ts';
import { insertTask } from '../store.ts';
import * as store from './store.ts';

/** Deletions that may wait. */
const MOST_OF_PROJECT = 1_000;
const MOST_OF_ACCOUNT = 2_000;
/** Tasks that delete or detach what uses the things they hold. Other tasks may leave those things in use. */
const TAKES_AWAY = /^(?:delete|detach)_/;

/**
 * A kind of deletion that may wait behind the task that holds what it deletes, instead of being refused. The task of such a
 * deletion stays NEW until the other task has ended. Then a worker calls `remove`; if another task holds the thing by that
 * time, the deletion waits for that one. A waiting deletion holds nothing itself.
 */
export interface WaitingDeletion<Args extends unknown[] = unknown[]> {
  type: string;
  /** Deletes at once, or says why it can't. */
  remove(on: Platform, scope: Scope, ...args: Args): Promise<string | undefined>;
  /** What the first arguments are: together they name what is deleted. */
  names: readonly string[];
  /** What the arguments after those are, as far as the task shows them while it waits. */
  options: readonly string[];
}

/** For each kind, the function that removes a thing along with its project. The card of the kind says if its key is an ID or a name. */
export type Removals = {
  readonly [Type in ResourceType]?: (on: Platform, scope: Scope, key: string) => Promise<unknown>;
};

/** What a wing of the cloud has besides operations. */
export interface WingTasks {
  ends(foundation: Pick<Foundation, 'secrets'>): TaskEnd[];
  /** Its deletions that may wait for what still uses the thing. */
  deletions: readonly WaitingDeletion[];
  removals: Removals;
  /** What it does about things that change by themselves. */
  notices?: Notices;
}

/** Declares a deletion that may wait for what still uses the thing. */
export const waitingDeletion = <Args extends unknown[]>(
  type: string,
  remove: WaitingDeletion<Args>['remove'],
  names: readonly string[],
  options: readonly string[] = [],
): WaitingDeletion<Args> => ({ type, remove, names, options });

/**
 * Deletes something, or has it wait until the task that takes away what uses it has ended. Returns the task.
 * @throws HeldError if another task holds it
 */
export async function deleteOrWait<Args extends unknown[]>(
  on: Platform,
  scope: Scope,
  deletion: WaitingDeletion<Args>,
  ...args: Args
): Promise<string>;

export async function deleteOrWait(on: Platform, scope: Scope, deletion: WaitingDeletion, ...args: unknown[]) {
  const { record, about } = noted();
  try {
    return await recordedBy(record, () => twice(() => deletion.remove(on, scope, ...args)));
  } catch (held) {
    if (!(held instanceof HeldError) || record?.oneVersion) throw held;
    return on.database.accept((tx) => {
      for (const one of about) tx.about(one);
      return wait(on, tx, scope, { deletion, args, about, held });
    });
  }
}

async function wait(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  wanted: { deletion: WaitingDeletion; args: unknown[]; about: readonly ActionResource[]; held: HeldError },
): Promise<string> {
  const { deletion, args, about, held } = wanted;
  const { type } = deletion;
  const holder = await store.holder(tx, held.taskId);
  const named = namedBy(deletion, args);
  if (!holder || !TAKES_AWAY.test(holder.task_type) || isSame(holder, { type, named })) throw held;
  const { clientId, projectId, regionId } = scope;
  const taskId = newTaskId();
  const thing = thingOf(named, about);
  const waiting = { taskId, kind: type, args, about, thing, clientId, projectId, regionId };
  const { id, args: before } = await store.insertWaiting(tx, { ...waiting, behind: held.taskId });
  if (id === taskId) {
    const { ofAccount, ofProject } = await store.countWaiting(tx, scope);
    if (ofAccount > MOST_OF_ACCOUNT || ofProject > MOST_OF_PROJECT) throw held;
    const createdOn = tx.now;
    const begins = Math.max(createdOn.getTime(), holder.deadline_at.getTime());
    const deadlineAt = new Date(begins + (on.taskEnds.get(type)?.deadlineMs ?? 0));
    const data = { ...named, ...shownOptions(deletion, args), waits_for: held.taskId };
    // Without input, its end is that of this queue.
    insertTask(tx, { ...ownerOf(scope), id, type, data, input: null, createdOn, deadlineAt });
  } else if (!isDeepStrictEqual(optionsOf(deletion, before), optionsOf(deletion, args))) {
    throw new ConflictError(
      `Task ${id} already waits to delete this, with other options. Cancel that task first, or send the same options`,
    );
  }
  tx.started(id);
  tx.announce(WAITING);
  return id;
}

function namedBy({ names }: WaitingDeletion, args: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name, at) => [name, args[at]]));
}

/** Returns what the task of a waiting deletion shows of its options. */
function shownOptions({ names, options }: WaitingDeletion, args: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(options.map((name, at) => [name, args[names.length + at]]));
}

/** Returns what else is asked for, so that it can be compared with what was stored. */
function optionsOf({ names }: WaitingDeletion, args: readonly unknown[]): unknown {
  const options = args.slice(names.length);
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

/** Returns the record for an attempt, and what the attempt says that it is about. */
function noted(): { record: ChangeRecord | undefined; about: readonly ActionResource[] } {
  const own = recordNow();
  const about: ActionResource[] = [];
  if (!own) return { record: own, about };
  const record: ChangeRecord = {
    ...own,
    async before(tx: Transaction) {
      about.length = 0;
      await own.before(tx);
    },
    about(resource) {
      const { type, id, name } = resource;
      about.push({ type, id, ...(typeof name === 'string' && { name }) });
      own.about(resource);
    },
  };
  return { record, about };
}
