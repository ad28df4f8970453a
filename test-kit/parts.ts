import { setTimeout as sleep } from 'node:timers/promises';
import { type Fate, hurryObjects, letBecome, stretchObjects } from '../simulation/index.ts';
import type { Catalog } from '../src/cloud/ground/catalog/service.ts';
import { failTask } from '../src/convergence/failures.ts';
import type { Endings } from '../src/convergence/waiting-tasks.ts';
import { lookAgain } from '../src/convergence/wants.ts';
import type { ListeningChangeFeed } from '../src/db/changes.ts';
import { forgetCounts } from '../src/db/page.ts';
import { ConflictError, NotFoundError } from '../src/lib/errors.ts';
import { isUuid } from '../src/lib/ids.ts';
import { deletionTasks } from '../src/tradewind/deletions/tasks.ts';
import type { TestKit } from './kit.ts';
import { createPartialReset, leaveNothing, type PartialReset } from './partial-reset.ts';
import { createSnapshots, type Snapshots } from './snapshots.ts';
import { createTurns } from './turns.ts';

/** What the routes change. */
export interface TestKitParts {
  kit: TestKit;
  snapshots: Snapshots;
  partial: PartialReset;
  work: WorkInProgress;
  /** Of tasks that rules can let fail, hold or delay. */
  taskTypes: ReadonlySet<string>;
  /** Of simulated work, by the settings. */
  normalSpeed: number;
}

/** Puts together what the routes for tests need. */
export function createTestKitParts(
  kit: TestKit,
  deps: Endings & {
    changes: Pick<ListeningChangeFeed, 'forgetAll'>;
    catalog: Pick<Catalog, 'keptIn' | 'regions'>;
    normalSpeed: number;
  },
): TestKitParts {
  const { database, changes, taskEnds, normalSpeed } = deps;
  const work = createWorkInProgress(deps);
  const alone = createTurns(database);
  const snapshots = createSnapshots(database, alone, async ({ gone, there }) => {
    kit.calls.allow(there);
    changes.forgetAll();
    forgetCounts();
    await leaveNothing({ calls: kit.calls, database }, gone);
  });
  const partial = createPartialReset({ ...deps, calls: kit.calls, alone, lock: snapshots.lock });
  return { kit, snapshots, partial, work, taskTypes: typesUnderRules(taskEnds.keys()), normalSpeed };
}

/** Deletions with contents want nothing of a backend themselves: no rule ever reaches them. */
function typesUnderRules(types: Iterable<string>): ReadonlySet<string> {
  const ofDeletions = new Set(deletionTasks().map(({ type }) => type));
  return new Set([...types].filter((type) => !ofDeletions.has(type)));
}

const FINISH_WITHIN_MS = 10_000;
const LOOK_MS = 10;

/** Changes the course of tasks that are being worked on. */
export interface WorkInProgress {
  /**
   * Ends simulated work of the task at once, and returns when the task has ended. @throws NotFoundError; ConflictError
   * for a task that does not end, since a rule or a real backend holds it
   */
  finish(taskId: string): Promise<void>;
  /** Ends the task as if the infrastructure had refused it. @throws NotFoundError, ConflictError if it has ended */
  fail(taskId: string, reason: string): Promise<void>;
  /** Lets work that has begun take another time, which is the former one times `factor`. */
  stretch(factor: number): Promise<void>;
  /** Lets a simulated machine do something by itself. @throws NotFoundError */
  become(instanceId: string, fate: Fate | undefined): Promise<void>;
  /** Lets workers look at everything again, since the time has changed. */
  lookAgain(): Promise<void>;
}

function createWorkInProgress(endings: Endings): WorkInProgress {
  const { database } = endings;

  async function stateOf(taskId: string): Promise<string> {
    const task = isUuid(taskId)
      ? await database.sql.selectFrom('tasks').select('state').where('id', '=', taskId).executeTakeFirst()
      : undefined;
    if (!task) throw new NotFoundError('Task', taskId);
    return task.state;
  }
  const hasEnded = async (taskId: string) => ['FINISHED', 'ERROR'].includes(await stateOf(taskId));

  return {
    async finish(taskId) {
      const end = performance.now() + FINISH_WITHIN_MS;
      while (!(await hasEnded(taskId))) {
        if (performance.now() > end) {
          throw new ConflictError(`Task ${taskId} does not end: a rule, or something that is not simulated, holds it`);
        }
        await database.transaction(async (tx) => {
          // What comes later is only begun when the first things are done.
          await hurryObjects(tx.sql, taskId);
          await lookAgain(tx);
        });
        await sleep(LOOK_MS);
      }
    },

    async fail(taskId, reason) {
      if (await hasEnded(taskId)) throw new ConflictError(`Task ${taskId} has ended`);
      const failed = await database.transaction((tx) => failTask(endings, tx, taskId, reason));
      if (!failed) throw new ConflictError(`Task ${taskId} has ended`);
    },

    async stretch(factor) {
      await database.transaction(async (tx) => {
        await stretchObjects(tx.sql, factor);
        await lookAgain(tx);
      });
    },

    async become(id, fate) {
      if (isUuid(id) && (await letBecome(database.sql, id, fate))) return;
      throw new NotFoundError('Simulated machine', id);
    },

    lookAgain: () => database.transaction(lookAgain),
  };
}
